"""Ways of writing a buffer before it is sent and of reading it when it has arrived, for three kinds of elements."""

from __future__ import annotations

from dataclasses import dataclass

from tests.machines.fuzz.quantities import Scene


@dataclass(frozen=True, slots=True)
class Element:
    """A type of elements.  ``count``: what a message of n of them says; ``kind``: its MPI datatype."""

    type: str
    count: str
    kind: str

    def messages(self, n: str) -> str:
        return self.count.replace("{n}", n)

    def store(self, at: str, i: str) -> str:
        """Writes one element, all of it."""
        if self.type == "double":
            return f"{at} = field[{i}] + t;"
        if self.type == "int":
            return f"{at} = {i} * 3 + t + rank;"
        return f"{at}.x = field[{i}]; {at}.id = {i} + t; {at}.on = rank;"

    def read(self, at: str, weight: str) -> str:
        if self.type.startswith("struct"):
            return f"total += {at}.x * {weight} + {at}.id + {at}.on;"
        return f"total += {at} * {weight};"


def element(s: Scene) -> Element:
    kind = s.rng.choice(("double", "double", "double", "double", "int", "struct"))
    if kind == "struct":
        tag = s.fresh("e")
        s.head.line(f"struct {tag} {{ double x; int id, on; }};")
        return Element(f"struct {tag}", f"(int)({{n}} * sizeof(struct {tag}))", "MPI_BYTE")
    return Element(kind, "{n}", {"double": "MPI_DOUBLE", "int": "MPI_INT"}[kind])


def whole(s: Scene, e: Element, place: str, n: str) -> str:
    """Writes all of the first n elements (n > 2)."""
    k, q = s.fresh("k"), s.fresh("q")
    at = e.store(f"{place}[i]", "i")
    forms = [
        f"for (int i = 0; i < {n}; i++) {{ {at} }}",
        f"for (int i = {n} - 1; i >= 0; i--) {{ {at} }}",
        f"{{ int i = 0; while (i < {n}) {{ {at} i++; }} }}",
        f"{{ {e.type} *{q} = {place}; for (int i = 0; i < {n}; i++) {{ {e.store(f'(*{q})', 'i')} {q}++; }} }}",
        f"{{ int {k} = 0; for (int i = 0; i < {n}; i++) {{ {e.store(f'{place}[{k}]', 'i')} {k}++; }} }}",
        f"{{ int {k}[2] = {{5, 0}}; for (int i = 0; i < {n}; i++) "
        f"{{ {e.type} *{q} = &{place}[{k}[1]++]; {e.store(f'(*{q})', 'i')} }} }}",
        f"{{ for (int i = 0; i < {n} / 2; i++) {{ {at} }} for (int i = {n} / 2; i < {n}; i++) {{ {at} }} }}",
        f"{{ for (int i = 0; i < {n}; i += 2) {{ {at} }} for (int i = 1; i < {n}; i += 2) {{ {at} }} }}",
        f"for (int i = 0; i < {n}; i++) {{ if ((i + rank) % 2) {{ {at} }} else {{ "
        f"{e.store(f'{place}[i]', '(i + 1)')} }} }}",
        f"{{ int i = 0; do {{ {at} i++; }} while (i < {n}); }}",
        f"{{ {e.type} *{q} = {place} + {n}; for (int i = 0; i < {n}; i++) {{ {q}--; {e.store(f'(*{q})', 'i')} }} }}",
        f"{{ for (int i = 1; i < {n}; i++) {{ {at} }} {e.store(f'{place}[0]', '0')} }}",
        f"{{ char *{q} = (char *){place}; {e.type} {k}; for (int i = 0; i < {n}; i++) "
        f"{{ {e.store(k, 'i')} memcpy({q}, &{k}, sizeof {k}); {q} += sizeof {k}; }} }}",
        f"{{ {e.type} {k}[64]; for (int i = 0; i < {n}; i++) {{ {e.store(f'{k}[i]', 'i')} }} "
        f"memcpy({place}, {k}, {n} * sizeof({e.type})); }}",
        f"{{ memset({place}, 0, {n} * sizeof({e.type})); for (int i = 0; i < {n}; i += 3) {{ {at} }} }}",
    ]
    if e.type == "double":
        forms += [
            f"memcpy({place}, field + t, {n} * sizeof(double));",
            f"fill({place}, {n}, t + rank);",
            f"append({place}, field, {n}, 1);",
            f"{{ int {k} = append({place}, field, 3, 1); fill({place} + {k}, {n} - {k}, t); }}",
        ]
    return s.rng.choice(forms)


def partial(s: Scene, e: Element, place: str, n: str) -> str:
    """Leaves some of the first n elements out, always or in some turns."""
    k, q = s.fresh("k"), s.fresh("q")
    at = e.store(f"{place}[i]", "i")
    forms = [
        f"for (int i = 1; i < {n}; i++) {{ {at} }}",
        f"for (int i = 0; i < {n} - 1; i++) {{ {at} }}",
        f"for (int i = 0; i < {n}; i += 2) {{ {at} }}",
        f"if (t == 0) for (int i = 0; i < {n}; i++) {{ {at} }}",
        f"if (rank == seven - 7) for (int i = 0; i < {n}; i++) {{ {at} }}",
        f"for (int i = 0; i < {n}; i++) {{ if (i == seven - 2) continue; {at} }}",
        f"for (int i = 0; i < {n}; i++) {{ if (i == seven - 3) break; {at} }}",
        f"{{ int {k} = 0; for (int i = 0; i < {n}; i++) {{ {e.store(f'{place}[{k}]', 'i')} if (i != 3) {k}++; }} }}",
        f"{{ {e.type} *{q} = {place} + 1; for (int i = 1; i < {n}; i++) {{ {e.store(f'(*{q})', 'i')} {q}++; }} }}",
        f"{{ for (int i = 0; i < {n} / 2; i++) {{ {at} }} for (int i = {n} / 2 + 1; i < {n}; i++) {{ {at} }} }}",
        f"memset({place}, 0, {n} * sizeof({e.type}) - 4);",
        f"for (unsigned char i = 0; i < {n}; i += 1 + (i == 5)) {{ {at} }}",
        f"switch (t) {{ case 0: for (int i = 0; i < {n}; i++) {{ {at} }} break; default: "
        f"{e.store(f'{place}[0]', '0')} }}",
        f"{{ int {k} = 0, *{q} = &{k}; for (int i = 0; i < {n} - 1; i++) {{ "
        f"{e.store(f'{place}[{k}]', 'i')} (*{q})++; if (i == 1) {k} = 3; }} }}",
        f"{{ short {k}[2] = {{0, 0}}; for (int i = 0; i < {n}; i++) {{ "
        f"{e.store(f'{place}[{k}[1]]', 'i')} {k}[i == 4 ? 0 : 1]++; }} }}",
    ]
    if e.type == "double":
        forms += [
            f"append({place}, field, {n}, 2);",
            f"for (int i = 0; i < {n}; i++) {place}[i] += 1;",
            f"memcpy({place}, field, ({n} - 2) * sizeof(double));",
            f"fill({place}, {n} - 1, t);",
        ]
    return s.rng.choice(forms)


def reading(s: Scene, e: Element, place: str, n: str) -> str:
    """Reads only the first n elements, all or some of them."""
    k, q = s.fresh("k"), s.fresh("q")
    forms = [
        f"for (int i = 0; i < {n}; i++) {{ {e.read(f'{place}[i]', '(i + 1)')} }}",
        f"for (int i = {n} - 1; i > 0; i -= 2) {{ {e.read(f'{place}[i]', 'i')} }}",
        f"{{ const {e.type} *{q} = {place}; for (int i = 0; i < {n}; i++) {{ {e.read(f'(*{q})', 'i')} {q}++; }} }}",
        f"{{ const {e.type} *{q} = {place}, *{k} = {q} + {n}; while ({q} < {k}) {{ "
        f"{e.read(f'(*{q})', '2')} {q}++; }} }}",
        f"{{ {e.type} {k}[64]; memcpy({k}, {place}, {n} * sizeof {k}[0]); "
        f"{e.read(f'{k}[{n} - 1]', '3')} {e.read(f'{k}[2]', '1')} }}",
        f"{{ const unsigned char *{q} = (const unsigned char *){place}; "
        f"for (size_t i = 0; i < {n} * sizeof({e.type}); i++) total += {q}[i] * (double)(i % 7); }}",
        f"if (t != 1) {{ {e.read(f'{place}[3]', '5')} }}",
        f"{{ int {k}; memcpy(&{k}, (const char *)({place} + 1) + 4, sizeof {k}); total += {k} % 1000; }}",
    ]
    if e.type == "double":
        forms += [f"total += sum({place}, {n});", f"memcpy(field + 1, {place}, {n} * sizeof(double));",
                  f"for (int i = 0; i < {n}; i++) field[i] += {place}[i] * 0.25;"]  # fmt: skip
    return s.rng.choice(forms)


def beyond(s: Scene, e: Element, place: str, n: str, size: int) -> str:
    """Reads what no message has brought, or what is left of an older one."""
    return s.rng.choice(
        (
            e.read(f"{place}[{size - 1}]", "2"),
            f"for (int i = {n}; i < {size}; i++) {{ {e.read(f'{place}[i]', '3')} }}",
            f"if (t == 1) {{ {e.read(f'{place}[{size - 2}]', '4')} }}",
            f"for (int i = 0; i < {size}; i++) {{ {e.read(f'{place}[i]', '(i + 1)')} }}",
        )
    )
