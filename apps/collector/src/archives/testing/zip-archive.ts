import { crc32, deflateRawSync } from "node:zlib";

/** How an archive lies. */
export interface ZipLies {
  /** What its directory says that each file unpacks to. */
  readonly claimed?: number;
  /** How it says that each is packed; all are by Deflate. */
  readonly method?: number;
  readonly flags?: number;
  /** What its files are called in their own headers. */
  readonly localName?: string;
  readonly crc32?: number;
  /** How many files it says that it has. */
  readonly entries?: number;
}

/** A ZIP archive of these files. @see APPNOTE.TXT section 4.3 */
export function zipOf(files: Readonly<Record<string, Buffer | string>>, options: ZipLies = {}): Buffer {
  const [bodies, entries]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [plain, label] = [Buffer.from(content), Buffer.from(name)];
    const packed = deflateRawSync(plain);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(options.flags ?? 0, 2);
    facts.writeUInt16LE(options.method ?? 8, 4);
    facts.writeUInt32LE(options.crc32 ?? crc32(plain), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(options.claimed ?? plain.length, 18);
    facts.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from("504b0304", "hex"), facts, Buffer.from(options.localName ?? name), packed]);
    const entry = Buffer.concat([Buffer.from("504b01021400", "hex"), facts, Buffer.alloc(14), label]);
    entry.writeUInt32LE(offset, 42);
    bodies.push(local);
    entries.push(entry);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  end.writeUInt16LE(options.entries ?? entries.length, 8);
  end.writeUInt16LE(options.entries ?? entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}
