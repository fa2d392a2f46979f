import type { SecureVersion } from "node:tls";
import type { TlsSession } from "./connection.ts";
import type { Reconnect } from "./protocol.ts";

/** The newest first. */
const VERSIONS: readonly SecureVersion[] = ["TLSv1.3", "TLSv1.2", "TLSv1.1", "TLSv1"];
const TLS_MS = 3000;

/**
 * Offers older and older versions, a connection for each, until one is refused: nobody speaks an older one but not the next.
 * @param open Gives null when enough connections were opened.
 * @returns Every version that was agreed to, the newest first.
 */
export async function findTlsVersions(session: TlsSession, open: Reconnect): Promise<readonly string[]> {
  const versions = [session.version];
  for (const maxVersion of VERSIONS.slice(VERSIONS.findIndex((version) => version === session.version) + 1)) {
    const connection = await open();
    const older = await connection?.startTls({ timeoutMs: TLS_MS, alpn: session.alpn === "" ? [] : [session.alpn], maxVersion });
    connection?.close();
    if (!older) break;
    versions.push(older.version);
  }
  return versions;
}
