#!/bin/sh
# What libopi and the shared heap add to MPI_Init: init.sh BUILD RANKS ROUNDS MPIEXEC...; the three kinds of start in turns, medians and what they add.
build=$1 ranks=$2 rounds=$3
shift 3
opi=$build/libopi.so heap=$build/libopi_malloc.so:$build/libopi.so
for _ in $(seq "$rounds"); do
    timeout 60 "$@" -n "$ranks" env "$build/bench/init" alone
    timeout 60 "$@" -n "$ranks" env LD_PRELOAD="$opi" "$build/bench/init" libopi
    timeout 60 "$@" -n "$ranks" env LD_PRELOAD="$heap" "$build/bench/init" shared-heap
done | sort -k1,1 -k2,2n | awk '
    { kind[$1] = 1; t[$1, ++n[$1]] = $2 }
    END {
        split("alone libopi shared-heap", order)
        for (i = 1; i <= 3; i++) {
            k = order[i]
            m[k] = t[k, int((n[k] + 1) / 2)]
            printf "%-12s MPI_Init %8.2f ms median of %d, least %8.2f", k, m[k], n[k], t[k, 1]
            if (i > 1) printf "; %+.2f ms, least %+.2f ms", m[k] - m["alone"], t[k, 1] - t["alone", 1]
            print ""
        }
    }'
