/** An SSH server that admits nobody, but bait to a shell without a system. @see RFC 4253, RFC 4252 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Algorithms, AuthContext, Connection } from "ssh2";
import { writeFileAtomically } from "../../../atomic-file.ts";
import { type Peer, REFUSAL_MS, type Stage } from "../service.ts";
import { serveShells } from "./ssh-shells.ts";

/** In the order of OpenSSH 8.4, without what the library cannot do: the exchange of groups, UMAC, and compression, which it undoes without a bound. */
const ALGORITHMS: Algorithms = {
  kex: [
    "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521", "diffie-hellman-group16-sha512",
    "diffie-hellman-group18-sha512", "diffie-hellman-group14-sha256",
  ],
  serverHostKey: ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa", "ecdsa-sha2-nistp256", "ssh-ed25519"],
  cipher: ["chacha20-poly1305@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"],
  hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha1-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512", "hmac-sha1"],
  compress: ["none"],
};

/** Those that Debian makes. */
const KEY_KINDS = [["rsa", { bits: 3072 }], ["ecdsa", { bits: 256 }], ["ed25519", {}]] as const;
/** MaxAuthTries. */
const MAX_TRIES = 6;
const METHODS: ("password" | "publickey")[] = ["publickey", "password"];

/**
 * Loads the library, and makes the host's keys where they are not there yet.
 * @param ident As `OpenSSH_8.4p1`.
 * @returns What serves a peer's stream until it ends.
 */
export async function createSshHost({ dataDir, hostname, ident }: { readonly dataDir: string; readonly hostname: string; readonly ident: string }): Promise<(peer: Peer, stage: Stage) => void> {
  const { default: ssh2 } = await import("ssh2");
  const hostKeys = KEY_KINDS.map(([kind, options]) => {
    const file = join(dataDir, `ssh-${hostname.toLowerCase()}-${kind}`);
    if (!existsSync(file)) writeFileAtomically(file, ssh2.utils.generateKeyPairSync(kind, options as { bits: number }).private, { mode: 0o600, durable: true });
    return readFileSync(file);
  });
  const peers = new Map<string, { readonly peer: Peer; readonly stage: Stage }>();
  const server = new ssh2.Server({ hostKeys, ident, algorithms: ALGORITHMS }, (client, { ip, port, header }) => {
    const one = peers.get(`${ip} ${port}`);
    if (one) greet(client, one, header.versions.software);
    else client.end();
  });
  return (peer, stage) => {
    const { stream } = peer;
    const key = `${stream.remoteAddress} ${stream.remotePort}`;
    peers.set(key, { peer, stage });
    stream.once("close", () => peers.delete(key));
    server.injectSocket(stream);
  };
}

function greet(client: Connection, { peer, stage }: { readonly peer: Peer; readonly stage: Stage }, software: string): void {
  let tries = 0;
  peer.isProgram("software", software);
  peer.reached("banner", "", software);
  const refuse = (context: AuthContext) => {
    tries += 1;
    if (tries >= MAX_TRIES) client.end();
    else context.reject(METHODS);
  };
  // The library says it again by closing the stream.
  client.on("error", () => undefined);
  client.on("authentication", (context) => {
    if (context.method === "password") {
      const isBait = peer.tried(context.username, context.password);
      if (isBait) serveShells(client, { peer, stage, username: context.username });
      return peer.later(REFUSAL_MS, () => (isBait ? context.accept() : refuse(context)));
    }
    if (context.method === "publickey") {
      if (tries === 0) peer.reached("credential", context.username, `offered a key of type ${context.key.algo}`);
      return refuse(context);
    }
    // Asks which methods there are; it is no try.
    context.reject(METHODS);
  });
}
