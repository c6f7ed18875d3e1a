"""Why a site stays, and what would let it convert."""
