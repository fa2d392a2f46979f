import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** SHA-256 of a file in hexadecimal, without holding up the event loop; null where it cannot be read. */
export async function digestOf(path: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) hash.update(chunk as Buffer);
  } catch {
    return null;
  }
  return hash.digest("hex");
}
