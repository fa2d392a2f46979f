import { type ArchiveReading, readFeedArchive } from "./feed-archive.ts";
import { type FeedBytes, packingOf, readFeedBytes } from "./feed-bytes.ts";
import { createFileReader } from "./feed-reader.ts";

/**
 * Reads a file of a feed into the database, whatever it is packed by: as it is, gzip, xz or a ZIP archive.
 * @returns Why it could not be used, in `error`: what of it was written before that has to be thrown away.
 */
export async function readFeedFile(path: string, reading: ArchiveReading): Promise<FeedBytes> {
  if (await packingOf(path).catch(() => null) === "zip") return readFeedArchive(path, reading);
  const reader = createFileReader(reading);
  const read = await readFeedBytes(path, (chunk, octets) => {
    reading.onOctets(octets);
    reader.push(chunk);
  });
  return { ...read, error: read.error ?? reader.end() };
}
