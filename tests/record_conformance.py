#!/usr/bin/env python3
"""Records what real Helms print for the cases of conformance pages (fixtures/conformance/README.md has the format).

    record_conformance.py --helm BIN [--helm BIN ...] [--oracle DIR] [--only REGEX] [--missing] [--check] [--alone] PAGE.md ...

It writes the pages' `output`, `stdout` and `error` blocks anew; --missing keeps those of cases that have some. --check
writes nothing and lists the cases whose blocks would change. Cases that cannot see each other are rendered as templates
of one chart; --alone gives every case a chart of its own. A case with a snapshot needs the folder of a fake API server
with a module `helm_render`, whose `render` runs one Helm.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

CHART = 'apiVersion: v2\nname: demo\nversion: 1.2.3\nappVersion: "4.5"\n'
KUBE_VERSION = "v1.33.1"
HEADER = b"---\n# Source: demo/templates/t.yaml\n"
RESULTS = ("output", "stdout", "error")
# What lets a template see, or be seen by, another one of the chart.
# Keys and digests of passwords take long.
COUPLED = re.compile(rb"gen[A-Z]|bcrypt|htpasswd|derive|getHost|define|block|template|Template|set\b|erge|Subcharts|Files|\bpush|append|kind:|---")
BATCH = 40


# ------------------------------------------------------------------- pages
class Block:
    def __init__(self, role, arguments, content):
        self.role, self.arguments, self.content = role, arguments, content


class Case:
    def __init__(self, title, common, end):
        self.title, self.blocks, self.common = title, [], common
        self.end = end                  # index of the text part after the last block
        self.results = {}

    def inputs(self):
        return [b for b in self.common + self.blocks if b.role not in RESULTS]


def unescape(text):
    def one(m):
        e = m.group(1)
        if e == "\n":
            return b""
        if e[0] == "x":
            return bytes([int(e[1:], 16)])
        if e[0] == "u":
            return chr(int(e[2:-1], 16)).encode()
        return {"\\": b"\\", "t": b"\t", "r": b"\r"}[e]
    out, at = b"", 0
    for m in re.finditer(r"\\(\\|\n|t|r|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\})", text):
        out += text[at:m.start()].encode() + one(m)
        at = m.end()
    return out + text[at:].encode()


def escape(data):
    """A block's content, and whether it has to be escaped."""
    text = data.decode("utf-8", "surrogateescape")
    odd = re.compile("[\udc80-\udcff\x00-\x08\x0b-\x1f\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\ufffb]|[ \t](?=\n)")
    if not odd.search(text):
        return text, False

    def one(m):
        c = m.group(0)
        if c == "\\":
            return "\\\\"
        if "\udc80" <= c <= "\udcff":
            return "\\x%02x" % (ord(c) - 0xdc00)
        return {"\t": "\\t", "\r": "\\r"}.get(c) or ("\\x%02x" % ord(c) if ord(c) < 0x80 else "\\u{%x}" % ord(c))
    return re.sub(r"\\|" + odd.pattern, one, text), True


class Page:
    """The page as parts: texts, and the blocks between them."""

    def __init__(self, path):
        self.path, self.cases = path, []
        with open(path, encoding="utf-8", newline="") as fh:
            lines = fh.read().splitlines(keepends=True)
        common, owner, self.parts = [], None, [""]
        i = 0
        while i < len(lines):
            line = lines[i].rstrip()
            fence = re.match(r"`{3,}", line)
            if not fence:
                if line.startswith("## "):
                    self.parts.append("")
                    owner = Case(line[3:], common, len(self.parts) - 1)
                    self.cases.append(owner)
                self.parts[-1] += lines[i]
                i += 1
                continue
            raw, content = lines[i], ""
            i += 1
            while not re.fullmatch("`{%d,}" % len(fence.group()), lines[i].rstrip()):
                content += lines[i]
                raw += lines[i]
                i += 1
            raw += lines[i]
            i += 1
            words = [w.rstrip(",") for w in line[len(fence.group()):].split()[1:]]
            if not words:
                self.parts[-1] += raw
                continue
            if words[-1] == "escaped":
                words.pop()
                data = unescape(content)
            else:
                data = content.encode()
            block = Block(words[0], words[1:], data)
            (owner.blocks if owner else common).append(block)
            self.parts.append((owner, raw, block.role in RESULTS))
            self.parts.append("")
            if owner:
                owner.end = len(self.parts) - 1

    def render(self, versions, recorded):
        lines = ["%s.%s" % tuple(v.split(".")[:2]) for v in versions]
        ends = {case.end: case for case in recorded}

        def dropped(i):
            part = self.parts[i] if 0 < i < len(self.parts) else ""
            return isinstance(part, tuple) and part[2] and part[0] in recorded
        out = []
        for i, part in enumerate(self.parts):
            if isinstance(part, tuple):
                out.append("" if dropped(i) else part[1])
                continue
            if i in ends:
                results = "\n" + result_blocks(ends[i], lines) + "\n"
                part = part.rstrip("\n") + "\n" + results if part.startswith("## ") else results + part.lstrip("\n")
            elif dropped(i + 1) or dropped(i - 1):
                part = part.rstrip("\n") + "\n" if part.strip() else ""
            out.append(re.sub(r"(?m)^Recorded with Helm .*$", "Recorded with Helm %s." % ", ".join(versions), part))
        return "".join(out).rstrip("\n") + "\n"


def block_text(role, versions, data):
    text, escaped = escape(data)
    ticks = "`" * max([3] + [len(m) + 1 for m in re.findall(r"(?m)^`{3,}", text)])
    info = "%s %s" % ("text" if role == "error" else "yaml", role)
    if versions:
        info += " " + ", ".join(versions)
    return "%s%s%s\n%s%s\n" % (ticks, info, " escaped" if escaped else "", text, ticks)


def result_blocks(case, lines):
    groups = collections.OrderedDict()
    for line in lines:
        error, out = case.results[line]
        found = [("error", error.rstrip(b"\n") + b"\n")] if error is not None else []
        if error is None and out.startswith(HEADER):
            found.append(("output", out[len(HEADER):]))
        elif error is None or out:
            found.append(("stdout", out))
        for key in found:
            groups.setdefault(key, []).append(line)
    return "\n".join(block_text(role, [] if vs == lines else vs, data) for (role, data), vs in groups.items())


# ------------------------------------------------------------------- running
def core(stderr):
    at = (b"\n" + stderr).rfind(b"\nError: ")
    error = stderr[at + len(b"Error: "):] if at >= 0 else b""
    return error.split(b"\n\nUse --debug flag to render out invalid YAML")[0].strip()


def put(root, path, data):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as fh:
        fh.write(data)


class Recorder:
    def __init__(self, helms, oracle):
        self.helms = {}
        for path in helms:
            version = subprocess.run([path, "version", "--template", "{{.Version}}"], capture_output=True, text=True).stdout.strip()
            self.helms[version.lstrip("v")] = path
        self.oracle = None
        if oracle:
            sys.path.insert(0, oracle)
            import helm_render
            self.oracle = helm_render

    def run(self, helm, case, templates):
        """One Helm on the case's inputs with these templates: error (None on success) and output."""
        with tempfile.TemporaryDirectory() as top:
            root = os.path.realpath(top)
            put(root, "demo/Chart.yaml", CHART.encode())
            argv, name, namespace, kube_version, snapshot, overrides = [], "rel", "demo", KUBE_VERSION, None, []
            for b in case.inputs():
                path = b.arguments[0] if b.arguments else None
                if b.role == "values":
                    put(root, "demo/values.yaml", b.content)
                elif b.role == "file":
                    put(root, "demo/" + path, b.content)
                elif b.role == "override":
                    put(root, path or "user.yaml", b.content)
                    overrides += ["-f", os.path.join(root, path or "user.yaml")]
                elif b.role == "beside":
                    put(root, path, b.content)
                elif b.role == "snapshot":
                    put(root, "snapshot.yaml", b.content)
                    snapshot = os.path.join(root, "snapshot.yaml")
                elif b.role == "flags":
                    argv = []
                    for line in b.content.decode().splitlines():
                        flag, _, value = line.replace("@DIR@", root).partition(" ")
                        if flag == "--name":
                            name = value
                        elif flag == "--namespace":
                            namespace = value
                        elif flag == "--kube-version":
                            kube_version = value
                        else:
                            argv += [flag, value] if value else [flag]
            for path, data in templates.items():
                put(root, "demo/" + path, data)
            chart = os.path.join(root, "demo")
            if snapshot:
                r = self.oracle.render(chart, release=name, namespace=namespace, snapshot=snapshot, kube_version=kube_version,
                                       helm=self.helms[helm], extra_args=overrides + argv)
                rc, out, err = r["rc"], r["stdout"], r["stderr"]
            else:
                env = {"HOME": os.path.join(root, "home"), "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C"}
                p = subprocess.run([self.helms[helm], "template", name, chart, "--namespace", namespace, "--kube-version",
                                    kube_version] + overrides + argv, capture_output=True, env=env)
                rc, out, err = p.returncode, p.stdout, p.stderr
            out, err = (t.replace(root.encode(), b"@DIR@") for t in (out, err))
            return (core(err) or b"?") if rc else None, out

    def alone(self, helm, case):
        templates = {b.arguments[0] if b.arguments else "templates/t.yaml": b.content for b in case.inputs() if b.role == "template"}
        case.results[line_of(helm)] = self.run(helm, case, templates)

    def batch(self, helm, cases):
        """Renders the cases together; those that do not come out that way, alone."""
        left = dict(("c%04d" % i, c) for i, c in enumerate(cases))
        while left:
            templates = {"templates/%s.yaml" % n: next(b.content for b in c.inputs() if b.role == "template") for n, c in left.items()}
            error, out = self.run(helm, cases[0], templates)
            if error is None:
                break
            culprit = re.search(rb"demo/templates/(c\d{4})\.yaml", error)
            if not culprit:
                for c in left.values():
                    self.alone(helm, c)
                return
            self.alone(helm, left.pop(culprit.group(1).decode()))
        docs = collections.defaultdict(bytes)
        for m in re.finditer(rb"---\n# Source: demo/templates/(c\d{4})\.yaml\n((?s:.)*?)(?=---\n# Source: |\Z)", out):
            docs[m.group(1).decode()] += m.group(2)
        for n, c in left.items():
            if docs.get(n, b"").strip():
                c.results[line_of(helm)] = None, HEADER + docs[n].rstrip() + b"\n"
            else:
                self.alone(helm, c)

    def record(self, cases, alone):
        work, groups = [], collections.defaultdict(list)
        for c in cases:
            inputs = c.inputs()
            templates = [b for b in inputs if b.role == "template"]
            extra = [b for b in inputs if b.role in ("file", "snapshot", "beside", "override")]
            failed = any(b.role in ("error", "stdout") for b in c.blocks)
            single = len(templates) == 1 and not templates[0].arguments and not COUPLED.search(templates[0].content)
            if alone or failed or extra or not single:
                work += [(self.alone, helm, c) for helm in self.helms]
            else:
                groups[tuple((b.role, b.content) for b in inputs if b.role != "template")].append(c)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            def finish(work):
                for done in [pool.submit(f, helm, what) for f, helm, what in work]:
                    done.result()
            finish(work)
            for helm in self.helms:         # one after the other: what failed with one is likely to fail with the next
                work = []
                for group in groups.values():
                    failed = [c for c in group if any(error is not None for error, _ in c.results.values())]
                    rest = [c for c in group if c not in failed]
                    work += [(self.alone, helm, c) for c in failed]
                    work += [(self.batch, helm, rest[at:at + BATCH]) for at in range(0, len(rest), BATCH)]
                finish(work)


def line_of(version):
    return ".".join(version.split(".")[:2])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--helm", action="append", required=True)
    ap.add_argument("--oracle")
    ap.add_argument("--only")
    for flag in ("--missing", "--check", "--alone"):
        ap.add_argument(flag, action="store_true")
    ap.add_argument("pages", nargs="+")
    a = ap.parse_args()
    recorder = Recorder(a.helm, a.oracle)
    versions = sorted(recorder.helms, key=lambda v: [int(n) for n in v.split(".")])
    changed = 0
    for path in a.pages:
        page = Page(path)
        chosen = [c for c in page.cases if (not a.only or re.search(a.only, c.title))
                  and not (a.missing and any(b.role in RESULTS for b in c.blocks))
                  and any(b.role in ("template", "file") for b in c.inputs())]
        recorder.record(chosen, a.alone)
        new = page.render(versions, set(chosen))
        with open(path, encoding="utf-8", newline="") as fh:
            old = fh.read()
        if new != old:
            changed += 1
            print(path, "differs" if a.check else "written")
            if a.check:
                sys.stdout.writelines(__import__("difflib").unified_diff(old.splitlines(True), new.splitlines(True), path, "now", n=3))
            else:
                with open(path, "w", encoding="utf-8", newline="") as fh:
                    fh.write(new)
    return 1 if a.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
