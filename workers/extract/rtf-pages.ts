/** The code pages of an RTF: what the bytes of its text stand for. */

/** Encodings by the number of a code page. */
const codePages: Readonly<Record<number, string>> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10000: "macintosh",
  65001: "utf-8",
};

/** Code pages by the number of a font's character set. */
const charsets: Readonly<Record<number, number>> = {
  0: 1252,
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Upper halves of the code pages of DOS, which `TextDecoder` does not have. */
const dosPages: ReadonlyMap<number, string> = new Map([
  [
    437,
    [
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ",
      "áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
      "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
      "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0",
    ].join(""),
  ],
  [
    850,
    [
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ",
      "áíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
      "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀",
      "ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
    ].join(""),
  ],
]);

/** Code pages by the word that names the character set of a document. */
export const characterSets: ReadonlyMap<string, number> = new Map([
  ["mac", 10000],
  ["pc", 437],
  ["pca", 850],
]);

/** The code page of a font's character set, if it is one. */
export function pageOfCharset(charset: number): number | undefined {
  return charsets[charset];
}

/** The text of bytes, as Latin-1, in a code page; in that of Windows where it is not known. */
export function decodePage(bytes: string, page: number): string {
  const upper = dosPages.get(page);
  if (upper !== undefined)
    return bytes.replaceAll(/[\x80-\xff]/g, (byte) => upper.charAt(byte.charCodeAt(0) - 128));
  const windows = page >= 1250 && page <= 1258 ? `windows-${page}` : "windows-1252";
  return new TextDecoder(codePages[page] ?? windows).decode(Buffer.from(bytes, "latin1"));
}
