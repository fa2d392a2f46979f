import { crc32, deflateRawSync } from "node:zlib";

/** A ZIP archive of these files. @param options.claimed What its directory says that each unpacks to. @see APPNOTE.TXT section 4.3 */
export function zipOf(files: Readonly<Record<string, Buffer | string>>, options: { readonly claimed?: number } = {}): Buffer {
  const [bodies, entries]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [plain, label] = [Buffer.from(content), Buffer.from(name)];
    const packed = deflateRawSync(plain);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(plain), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(options.claimed ?? plain.length, 18);
    facts.writeUInt16LE(label.length, 22);
    const local = Buffer.concat([Buffer.from("504b0304", "hex"), facts, label, packed]);
    const entry = Buffer.concat([Buffer.from("504b01021400", "hex"), facts, Buffer.alloc(14), label]);
    entry.writeUInt32LE(offset, 42);
    bodies.push(local);
    entries.push(entry);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}
