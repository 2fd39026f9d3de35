import { describe, expect, it } from "vitest";
import { refusalOf, textOf } from "./extracting.ts";

async function read(rtf: string): Promise<string> {
  return (await textOf("a.rtf", Buffer.from(rtf, "latin1"))).text;
}

describe("an RTF", () => {
  it("gives what is printed, with its title", async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}{\colortbl;\red0;}{\*\generator Writer;}{\info{\title A Title}{\author Somebody}}{\header head}
\pard\f0 One\tab two\par caf\'e9 \{braces\} \\ \u8364?\u-10179?\u-8704? \f1 \'d1\'ed\'e5\'e3\f0\par
{\pict 89504e47}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}\cell last\row}`;
    const text = await textOf("a.rtf", Buffer.from(rtf, "latin1"));
    expect(text.text.split(/\s+/)).toEqual([
      "One",
      "two",
      "café",
      "{braces}",
      "\\",
      "€😀",
      "Снег",
      "link",
      "last",
      "",
    ]);
    expect(text.title).toBe("A Title");
  });

  it("gives text boxes and shown objects once, notes apart, and nothing that is not printed", async () => {
    const box = String.raw`before{\shp{\*\shpinst\shpleft0{\sp{\sn a}{\sv b}}{\shptxt box}}{\shprslt{\*\do{\dptxbxtext box}}}}after`;
    const old = String.raw`{\*\do\dptxbx{\dptxbxtext old box\par}}{\object{\*\objdata 00ff}{\result shown}}`;
    const hidden = String.raw`{\deleted gone}{\v not\par{\b shown \'e9\u233?}}\v hid\v0 seen\v hid\plain  again\deleted\v x\v0 x\deleted0 .`;
    const noted = String.raw`word{\footnote A note.}`;
    const text = await read(String.raw`{\rtf1 ${box} ${old} ${hidden} ${noted}}`);
    expect(text.split(/\s+/)).toEqual(
      "before box after old box shown seen again. word A note.".split(" "),
    );
  });

  it("skips what stands for a character in older readers, and binary data", async () => {
    expect(await read(String.raw`{\rtf1\uc2 a\u233 \'81\'82b\uc1\u233 xc}`)).toBe("aébéc");
    expect(await read("{\\rtf1 a{\\pict\\bin4 }}\\b}b}")).toBe("ab");
  });

  it("is recognised by its content", async () => {
    expect(await textOf("letter.doc2", "{\\rtf1 words}")).toMatchObject({ text: "words" });
  });

  it("however damaged is read as far as it goes, and refused when it nests without end", async () => {
    expect(await read("{\\rtf1 open {\\b bold")).toBe("open bold");
    expect(await read("{\\rtf1 a}}}} b\\")).toContain("a");
    expect(await read("{\\rtf1 a\\bin999999999 b}")).toBe("a");
    expect(await refusalOf("a.rtf", `{\\rtf1 ${"{".repeat(5_000)}`)).toBe(
      "broken RTF: cannot be read as RTF",
    );
  });

  it("is cut and says so", async () => {
    const text = await textOf("a.rtf", `{\\rtf1 ${"word \\par ".repeat(1_000)}}`, { units: 100 });
    expect([text.text.length, text.truncated]).toEqual([100, true]);
  });
});
