#!/usr/bin/env python3
"""Writes the documents of corpus/documents: small, with one link of each kind, the same bytes each time.

usage: document_fixtures.py FOLDER

Needs Python 3 alone. The records that the program must find in them are written by hand in corpus/EXPECTED.tsv.
"""

import struct
import sys
import zipfile
import zlib
from pathlib import Path

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def packed(members, stored=()):
    """A zip of these members, in their order; those of `stored` are not compressed."""
    import io

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, (1996, 3, 4, 10, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


def relationships(*rows):
    """The relationships: id, kind, target, and whether the target is external."""
    body = "".join(
        f'<Relationship Id="{i}" Type="{OFFICE}/{kind}" Target="{target}"{" TargetMode=" + chr(34) + "External" + chr(34) if external else ""}/>'
        for i, kind, target, external in rows
    )
    return f'<?xml version="1.0"?><Relationships xmlns="{RELATIONSHIPS}">{body}</Relationships>'


TYPES = ("[Content_Types].xml", '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>')


def docx():
    document = (
        f'<?xml version="1.0"?><w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body>'
        "<w:p><w:r><w:t>See http://docx-te</w:t></w:r><w:r><w:t>xt.example/runs in the text.</w:t></w:r></w:p>"
        '<w:p><w:hyperlink r:id="rId1"><w:r><w:t>our page</w:t></w:r></w:hyperlink></w:p>'
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        '<w:r><w:instrText> HYPERLINK &quot;http://docx-field.example/a&quot; </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>a field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        "</w:body></w:document>"
    )
    rels = relationships(
        ("rId1", "hyperlink", "http://docx-link.example/?a=1&amp;b=2", True),
        ("rId2", "image", "http://docx-image.example/logo.png", True),
        ("rId3", "styles", "styles.xml", False),
    )
    return packed([TYPES, ("word/document.xml", document), ("word/_rels/document.xml.rels", rels)])


def xlsx():
    strings = f'<?xml version="1.0"?><sst xmlns="{SHEET}"><si><t>http://xlsx-cell.example/</t></si><si><t>words</t></si></sst>'
    sheet = (
        f'<?xml version="1.0"?><worksheet xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>'
        '<c r="B1" t="str"><f>HYPERLINK("http://xlsx-formula.example/","go")</f><v>go</v></c></row></sheetData>'
        '<hyperlinks><hyperlink ref="C1" r:id="rId1"/></hyperlinks></worksheet>'
    )
    rels = relationships(("rId1", "hyperlink", "http://xlsx-link.example/", True))
    return packed(
        [TYPES, ("xl/sharedStrings.xml", strings), ("xl/worksheets/sheet1.xml", sheet), ("xl/worksheets/_rels/sheet1.xml.rels", rels)]
    )


def pptx():
    slide = (
        f'<?xml version="1.0"?><p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{OFFICE}"><p:txBody><a:p><a:r>'
        '<a:rPr><a:hlinkClick r:id="rId1"/></a:rPr><a:t>click</a:t></a:r></a:p>'
        "<a:p><a:r><a:t>http://pptx-text.example/</a:t></a:r></a:p></p:txBody></p:sld>"
    )
    rels = relationships(("rId1", "hyperlink", "http://pptx-link.example/", True))
    return packed([TYPES, ("ppt/slides/slide1.xml", slide), ("ppt/slides/_rels/slide1.xml.rels", rels)])


def open_document(kind, body):
    content = (
        '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
        f"<office:body>{body}</office:body></office:document-content>"
    )
    mimetype = ("mimetype", f"application/vnd.oasis.opendocument.{kind}")
    return packed([mimetype, ("content.xml", content)], stored=("mimetype",))


def odt():
    return open_document(
        "text",
        '<office:text><text:p>See <text:a xlink:type="simple" xlink:href="http://odt-link.example/">our <text:span>page</text:span></text:a>'
        " or http://odt-te<text:span>xt.example/</text:span>.</text:p><text:p><text:a xlink:href=\"#here\">below</text:a></text:p></office:text>",
    )


def ods():
    return open_document(
        "spreadsheet",
        '<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>http://ods-one.example/</text:p></table:table-cell>'
        "<table:table-cell><text:p>two</text:p></table:table-cell><table:table-cell><text:p>"
        '<text:a xlink:href="http://ods-link.example/">three</text:a></text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>',
    )


def pdf():
    """A link in an object of its own, one in an object stream, one by reference, and a note."""
    packed_objects = b"7 0 << /Type /Annot /Subtype /Link /A << /S /URI /URI (http://pdf-packed.example/\\(b\\)) >> >>"
    stream = zlib.compress(packed_objects)
    objects = [
        b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
        b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n",
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Annots [4 0 R 5 0 R 7 0 R] >>\nendobj\n",
        b"4 0 obj\n<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /Type /Action /S /URI /URI (http://pdf-link.example/a?b=1) >> >>\nendobj\n",
        b"5 0 obj\n<< /Type /Annot /Subtype /Text /Contents (A note on http://pdf-note.example/) /A << /S /URI /URI 8 0 R >> >>\nendobj\n",
        b"6 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (len(stream), stream),
        b"8 0 obj\n<687474703A2F2F7064662D72656665727265642E6578616D706C652F>\nendobj\n",
    ]
    # The table of cross-references is wrong: it is not needed.
    return b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n" + b"".join(objects) + b"trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


def rtf():
    return (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title http://rtf-title.example/}}" b"\n"
        rb"Caf\'e9: http://rtf-text.example/ or {\field{\*\fldinst {HYPERLINK " b'"http://rtf-link.example/a"' rb" \\o " b'"tip"' rb"}}"
        rb"{\fldrslt {\ul our page}}}.\par" b"\n" rb"{\*\unknown http://rtf-hidden.example/}\pard The end.}" b"\n"
    )


def compound(streams):
    """A compound file (MS-CFB) of these streams: paths with slashes and their bytes, none of them in the mini stream."""
    sector = 512
    end, free, fat_sector = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    # Streams below 4,096 bytes would be in the mini stream: those are filled up behind their sizes in it.
    entries = [{"name": "Root Entry", "type": 5, "children": [], "data": b""}]

    def storage(path):
        at = 0
        for name in path:
            found = next((c for c in entries[at]["children"] if entries[c]["name"] == name), None)
            if found is None:
                entries.append({"name": name, "type": 1, "children": [], "data": b""})
                found = len(entries) - 1
                entries[at]["children"].append(found)
            at = found
        return at

    for path, data in streams:
        *folders, name = path.split("/")
        parent = storage(folders)
        entries.append({"name": name, "type": 2, "children": [], "data": data})
        entries[parent]["children"].append(len(entries) - 1)

    fat, sectors, mini, mini_fat = [], [], b"", []

    def add(data):
        """Adds the sectors of a chain. Returns the first."""
        count = -(-len(data) // sector)
        if count == 0:
            return end
        first = len(sectors)
        for i in range(count):
            sectors.append(data[i * sector : (i + 1) * sector].ljust(sector, b"\0"))
            fat.append(first + i + 1 if i + 1 < count else end)
        return first

    for entry in entries:
        data = entry["data"]
        entry["start"], entry["size"] = end, len(data)
        if entry["type"] != 2 or not data:
            continue
        if len(data) >= 4096:
            entry["start"] = add(data)
        else:
            count = -(-len(data) // 64)
            entry["start"] = len(mini_fat)
            mini_fat += [entry["start"] + i + 1 for i in range(count - 1)] + [end]
            mini += data.ljust(count * 64, b"\0")
    entries[0]["start"], entries[0]["size"] = add(mini), len(mini)
    mini_fat_sectors = -(-len(mini_fat) * 4 // sector)
    mini_fat += [free] * (mini_fat_sectors * 128 - len(mini_fat))
    mini_fat_start = add(struct.pack(f"<{len(mini_fat)}I", *mini_fat))

    # Children are a balanced tree, ordered by the length of the name, then by its letters.
    links = {i: [free, free, free] for i in range(len(entries))}

    def tree(ids):
        if not ids:
            return free
        half = len(ids) // 2
        links[ids[half]][0] = tree(ids[:half])
        links[ids[half]][1] = tree(ids[half + 1 :])
        return ids[half]

    for i, entry in enumerate(entries):
        ids = sorted(entry["children"], key=lambda c: (len(entries[c]["name"]), entries[c]["name"].upper()))
        links[i][2] = tree(ids)
    directory = b""
    for i, entry in enumerate(entries):
        name = (entry["name"] + "\0").encode("utf-16-le")
        directory += name.ljust(64, b"\0") + struct.pack("<HBB", len(name), entry["type"], 1)
        directory += struct.pack("<3I", *links[i]) + bytes(16) + bytes(4) + bytes(16)
        directory += struct.pack("<IQ", 0 if entry["type"] == 1 else entry["start"], entry["size"])
    while len(directory) % sector:
        directory += bytes(64) + struct.pack("<HBB", 0, 0, 0) + struct.pack("<3I", free, free, free) + bytes(48)
    directory_start = add(directory)
    fat_start = len(sectors)
    fat.append(fat_sector)
    assert len(fat) <= 128
    sectors.append(struct.pack("<128I", *(fat + [free] * (128 - len(fat)))))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, directory_start, 0, 4096, mini_fat_start, mini_fat_sectors, end, 0)
    header += struct.pack("<109I", fat_start, *[free] * 108)
    return header + b"".join(sectors)


def message_streams(folder, texts, binaries=(), fixed=b"", header=8):
    """The streams of a storage of properties."""
    streams = [(f"{folder}__properties_version1.0", bytes(header) + fixed)]
    streams += [(f"{folder}__substg1.0_{i:04X}001F", text.encode("utf-16-le")) for i, text in texts]
    return streams + [(f"{folder}__substg1.0_{i:04X}0102", data) for i, data in binaries]


def packed_rtf(rtf):
    """RTF packed by MS-OXRTFCP, without references."""
    body = b"".join(b"\0" + rtf[i : i + 8] for i in range(0, len(rtf), 8))
    return struct.pack("<IIII", len(body) + 12, len(rtf), 0x75465A4C, 0) + body


def msg():
    code_page = struct.pack("<HHIQ", 3, 0x3FDE, 6, 65001)
    submitted = struct.pack("<HHIQ", 0x40, 0x39, 6, 124704000000000000 + 36000 * 10_000_000)
    html = b'<p>Our <a href="http://msg-html.example/">page</a></p>'
    streams = message_streams(
        "",
        [
            (0x001A, "IPM.Note"),
            (0x0037, "A message of Outlook"),
            (0x0C1A, "Ann"),
            (0x5D01, "ann@msg.example"),
            (0x0E04, "Bob"),
            (0x1000, "Text: http://msg-body.example/"),
            (0x1035, "<one@msg.example>"),
        ],
        [(0x1013, html)],
        code_page + submitted,
        32,
    )
    streams += message_streams(
        "__attach_version1.0_#00000000/", [(0x3707, "note.txt"), (0x370E, "text/plain")], [(0x3701, b"See http://msg-attached.example/\n")]
    )
    inner = "__attach_version1.0_#00000001/__substg1.0_3701000D/"
    streams += message_streams("__attach_version1.0_#00000001/", [(0x3707, "inner")])
    streams += message_streams(
        inner,
        [(0x007D, "From: carl@msg.example\r\nSubject: http://msg-subject.example/\r\nContent-Type: text/html\r\n\r\n")],
        [(0x1009, packed_rtf(rb"{\rtf1\ansi {\field{\*\fldinst HYPERLINK " b'"http://msg-rtf.example/"' rb"}{\fldrslt here}}}"))],
        header=24,
    )
    return compound(streams)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (docx, xlsx, pptx, odt, ods, pdf, rtf, msg):
        (folder / f"document.{make.__name__}").write_bytes(make())


if __name__ == "__main__":
    main()
