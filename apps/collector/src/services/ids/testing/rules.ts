import { gzipSync } from "node:zlib";
import { notFound } from "../../../gateway/errors.ts";
import type { StoredCaptures } from "../trials/service.ts";

/** Where nothing is stored. */
export const noCaptures: StoredCaptures = { open: () => Promise.reject(notFound("capture")), refused: () => Promise.resolve() };

/** A rule that can be run. @param more Options before its number. */
export function ruleText(sid: number, message = `ET MALWARE number ${sid}`, more = ""): string {
  return `alert tcp any any -> any 80 (msg:"${message}"; content:"x${sid}"; ${more}sid:${sid}; rev:1;)`;
}

/** A head of an archive and what follows it. @param change Writes over the head before its sum is made. */
export function tarEntry(name: string, content: Buffer | string = "", change: (head: Buffer) => void = () => {}): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.alloc(512);
  head.write(name, 0, 100, "ascii");
  head.write("0000600\0", 100);
  head.write(`${bytes.length.toString(8).padStart(11, "0")}\0`, 124);
  head.write("0", 156);
  head.write("ustar\u000000", 257, "latin1");
  change(head);
  head.write("        ", 148);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

/** As rule sets are published. */
export function archive(files: Readonly<Record<string, string>>): Buffer {
  return gzipSync(Buffer.concat([...Object.entries(files).map(([name, text]) => tarEntry(name, text)), Buffer.alloc(1024)]));
}
