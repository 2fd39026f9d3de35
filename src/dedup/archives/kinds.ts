/** Names of files that a walk skips without opening them. */

/** Folders in which a version control system keeps its own files. */
export const versionControlFolders: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".bzr",
  "CVS",
]);

/** Endings of files that hold no text that is read: pictures, sound, programs, archives, data. */
const otherEndings: ReadonlySet<string> = new Set(
  (
    "png jpg jpeg jpe gif bmp tif tiff webp ico svg svgz heic heif avif psd xcf ai eps raw cr2 nef dng " +
    "mp3 m4a aac ogg oga opus flac wav wma mid mp4 m4v mkv avi mov webm wmv mpg mpeg flv 3gp " +
    "ttf otf woff woff2 eot pfb " +
    "exe dll so dylib o a lib obj class jar war pyc pyo wasm node bin dat msi apk ipa deb rpm dmg iso img " +
    "zip tar tgz tbz2 txz 7z rar xz lz lzma lz4 cab cpio " +
    "doc dot xls xlsx xlsm xlsb ppt pptx pptm pps ppsx odp ods odg msg pst mobi azw azw3 djvu pages numbers key " +
    "db sqlite sqlite3 mdb accdb dbf parquet arrow avro orc npy npz pkl h5 hdf5 onnx safetensors gguf pt " +
    "pem der crt cer p12 pfx gpg asc sig p7s p7m torrent map"
  ).split(" "),
);

/** Why a file of this name is not opened; undefined for one whose content decides. */
export function otherType(
  name: string,
): { readonly reason: string; readonly detail: string } | undefined {
  const bare = name.replace(/\.(gz|zst|bz2)$/i, "");
  const ending = endingOf(bare);
  if (/^\.(jsonl|ndjson)$/.test(ending))
    return { reason: "JSON Lines", detail: "is read when its own path is given" };
  return otherEndings.has(ending.slice(1)) ? { reason: "other type", detail: ending } : undefined;
}

/** Whether a name is hidden, or that of a folder of installed packages. */
export function isLeftOut(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** The ending of a name for counting, e.g. `.png`; "no ending" without one. */
function endingOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "no ending" : name.slice(dot).toLowerCase();
}
