import { createByteSource } from "./byte-source.ts";
import { unreadable } from "./unreadable.ts";

/**
 * An archive that any `tar` unpacks: a head of 512 bytes for each file, its bytes, and zeros up to the next 512.
 * @see IEEE Std 1003.1 pax, "ustar Interchange Format"; sizes of 8 GiB and more as GNU tar writes them
 */

const BLOCK_BYTES = 512;
/** What eleven octal digits can say. */
const MAX_OCTAL = 8 ** 11 - 1;

/** A file of an archive. */
export interface TarFile {
  readonly name: string;
  readonly sizeBytes: number;
  /** Exactly `sizeBytes`; of a file that is read, to be read to its end before the next one is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** @param modifiedAt Milliseconds since the epoch. */
export async function* writeTar(files: Iterable<TarFile> | AsyncIterable<TarFile>, modifiedAt: number): AsyncGenerator<Uint8Array> {
  for await (const { name, sizeBytes, bytes } of files) {
    yield head(name, sizeBytes, modifiedAt);
    let written = 0;
    for await (const chunk of bytes) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== sizeBytes) throw new Error(`the size of ${name} changed from ${sizeBytes} to ${written} bytes while it was read`);
    yield Buffer.alloc(paddingOf(sizeBytes));
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/**
 * The plain files of an archive, one after the other. It is read to its very end.
 * @throws CollectorError `backup-unreadable` for what is no archive, holds anything but plain files, or ends too early.
 */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile> {
  const source = createByteSource(archive);
  for (;;) {
    const block = Buffer.from(await source.exactly(BLOCK_BYTES));
    if (block.every((byte) => byte === 0)) break;
    const { name, sizeBytes } = readHead(block);
    yield { name, sizeBytes, bytes: source.stream(sizeBytes) };
    await source.exactly(paddingOf(sizeBytes));
  }
  while ((await source.upTo(65_536)).length > 0);
}

function head(name: string, sizeBytes: number, modifiedAt: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0, 100, "ascii");
  block.write("0000600\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  if (sizeBytes <= MAX_OCTAL) block.write(`${octal(sizeBytes, 11)}\0`, 124);
  else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(sizeBytes), 128);
  }
  block.write(`${octal(Math.floor(modifiedAt / 1000), 11)}\0`, 136);
  block.write("0", 156);
  block.write("ustar\u000000", 257, "latin1");
  block.write(`${octal(sumOf(block), 6)}\0 `, 148);
  return block;
}

function readHead(block: Buffer): { readonly name: string; readonly sizeBytes: number } {
  const [digits = ""] = block.toString("latin1", 148, 156).split("\0");
  if (Number.parseInt(digits, 8) !== sumOf(block)) throw unreadable("its content is not an archive");
  const type = block[156];
  if (type !== 0x30 && type !== 0) throw unreadable("its archive holds entries that are not plain files");
  const [name = ""] = block.toString("latin1", 0, 100).split("\0");
  const sizeBytes = block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(block.toString("latin1", 124, 135), 8);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw unreadable("a file in it has no size");
  return { name, sizeBytes };
}

/** The sum of a head's bytes, its own place taken as blanks. */
function sumOf(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function paddingOf(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
