import type { Connection, openConnection, TlsSession } from "./connection.ts";
import { describe } from "./describe.ts";
import { type ServiceFinding, toFinding } from "./finding.ts";
import type { Reconnect, Target, TcpProtocol } from "./protocol.ts";
import { TCP_PROTOCOLS } from "./protocols.ts";
import { findTlsVersions } from "./tls-versions.ts";

/** Ports where TLS comes first. */
const TLS_PORTS: ReadonlySet<number> = new Set([
  443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 3269, 4443, 5061, 5223, 5349, 5671, 5986, 6443, 6514, 6697, 8443, 8883, 9443,
  10_250, 15_671, 64_738,
]);

const CONNECT_MS = 3000;
/** Who speaks first does so at once; slow ones look up the caller's name before. */
const GREETING_MS = 700;
const LATE_GREETING_MS = 5000;
const ANSWER_MS = 2500;
const TLS_MS = 4000;
/** For one port, all together. */
const MAX_CONNECTIONS = 6;

interface Address {
  readonly ip: string;
  readonly port: number;
}

interface TcpDeps {
  readonly connect: typeof openConnection;
  readonly signal: AbortSignal;
}

interface Peer {
  readonly target: Address;
  /** @returns Null where none comes about, or too many were opened. */
  readonly open: Reconnect;
  readonly close: () => void;
  readonly hasFailed: () => boolean;
}

/** @returns What the port is, or says where that is nothing known; null where it says nothing. */
export async function identifyTcp(target: Address, deps: TcpDeps): Promise<ServiceFinding | null> {
  const peer = createPeer(target, deps);
  try {
    let unknown: ServiceFinding | null = null;
    for (const opening of planOpenings(target.port)) {
      if (deps.signal.aborted || peer.hasFailed()) break;
      const found = opening === "tls" ? await tryTls(peer) : await tryPlain(peer, opening);
      if (found?.isKnown) return found.finding;
      unknown ??= found?.finding ?? null;
    }
    return unknown;
  } finally {
    peer.close();
  }
}

function createPeer(target: Address, deps: TcpDeps): Peer {
  const opened: Connection[] = [];
  let left = MAX_CONNECTIONS;
  let failures = 0;
  return {
    target,
    async open() {
      if (left === 0) return null;
      left -= 1;
      const connection = await deps.connect(target, { timeoutMs: CONNECT_MS, signal: deps.signal });
      if (connection) opened.push(connection);
      else failures += 1;
      return connection;
    },
    close() {
      for (const connection of opened) connection.close();
    },
    hasFailed: () => left === 0 || failures > 1,
  };
}

/** A connection that begins with TLS, or with a protocol's hello; or, for null, with listening first and the likeliest hello after. */
type Opening = "tls" | TcpProtocol | null;

function planOpenings(port: number): readonly Opening[] {
  const likely = TCP_PROTOCOLS.filter((protocol) => protocol.ports.includes(port));
  const likelyHellos = likely.filter((protocol) => protocol.hello);
  const general = TCP_PROTOCOLS.filter((protocol) => protocol.hello && protocol.ownPortsOnly !== true && !likely.includes(protocol));
  const plain: readonly Opening[] = likelyHellos.length > 0 ? [...likelyHellos, null] : [null];
  return TLS_PORTS.has(port) ? ["tls", ...plain, ...general] : [...plain, "tls", ...general];
}

interface Attempt {
  /** Whether a protocol was recognised, or only something answered. */
  readonly isKnown: boolean;
  readonly finding: ServiceFinding;
}

async function tryPlain(peer: Peer, opening: TcpProtocol | null): Promise<Attempt | null> {
  const connection = await peer.open();
  if (!connection) return null;
  const found = await converse(connection, { opening, target: { ...peer.target, isSecure: false }, tls: null, again: peer.open });
  connection.close();
  return found;
}

async function tryTls(peer: Peer): Promise<Attempt | null> {
  const likely = TCP_PROTOCOLS.filter((protocol) => protocol.ports.includes(peer.target.port));
  const http = TCP_PROTOCOLS.find((protocol) => protocol.name === "http") ?? null;
  const alpn = likely.length === 0 ? ["h2", "http/1.1"] : likely.flatMap((protocol) => protocol.alpn ?? []);
  const secure = async (offered: readonly string[]) => {
    const connection = await peer.open();
    const session = (await connection?.startTls({ timeoutMs: TLS_MS, alpn: offered })) ?? null;
    return connection && session && { connection, session };
  };
  // Some end the handshake where none of the protocols is theirs. @see RFC 7301 section 3.2
  const begun = (await secure(alpn)) ?? (TLS_PORTS.has(peer.target.port) && alpn.length > 0 ? await secure([]) : null);
  if (!begun) return null;
  const { connection, session } = begun;
  const opening = session.alpn === "h2" ? (TCP_PROTOCOLS.find((protocol) => protocol.name === "http2") ?? null)
    : likely.find((protocol) => protocol.hello) ?? (likely.length > 0 ? null : http);
  // Anew, only what the first page was asked in is spoken.
  const again = async () => (await secure(alpn.filter((name) => name !== "h2")))?.connection ?? null;
  const found = await converse(connection, { opening, target: { ...peer.target, isSecure: true }, tls: session, again });
  connection.close();
  const versions = await findTlsVersions(session, peer.open);
  const finding = found?.finding ?? toFinding({ service: "ssl", tls: session });
  return { isKnown: true, finding: { ...finding, tls: { ...(finding.tls ?? session), versions } } };
}

interface Talk {
  readonly opening: TcpProtocol | null;
  readonly target: Target;
  readonly tls: TlsSession | null;
  readonly again: Reconnect;
}

/** Says hello where the opening has one, else listens first; then lets whoever recognises the answer go on. */
async function converse(connection: Connection, talk: Talk): Promise<Attempt | null> {
  const { target, tls } = talk;
  const http = TCP_PROTOCOLS.find((protocol) => protocol.name === "http");
  let asked = talk.opening;
  let first: Uint8Array = new Uint8Array();
  if (!asked) {
    const expectsGreeting = TCP_PROTOCOLS.some((protocol) => !protocol.hello && protocol.ports.includes(target.port));
    const possible = inOrder(null, target.port);
    first = await connection.read((bytes) => isDecided(bytes, possible), expectsGreeting ? LATE_GREETING_MS : GREETING_MS);
    if (first.length === 0 && !expectsGreeting) asked = http ?? null;
  }
  if (asked?.hello && !connection.isClosed()) {
    const possible = inOrder(asked, target.port);
    connection.send(asked.hello(target));
    first = await connection.read((bytes) => isDecided(bytes, possible), ANSWER_MS);
  }
  if (first.length === 0) return null;
  const hello = Buffer.from(asked?.hello?.(target) ?? "");
  const isEcho = hello.length > 4 && Buffer.from(first.subarray(0, hello.length)).equals(hello);
  if (isEcho) return { isKnown: true, finding: toFinding({ service: "echo", tls }) };
  for (const protocol of inOrder(asked, target.port)) {
    if (protocol.recognise(first) !== "yes") continue;
    const result = await protocol.learn(first, connection, target, talk.again);
    if (result) return { isKnown: true, finding: describe(result, tls) };
  }
  return { isKnown: false, finding: toFinding({ service: tls ? "ssl" : "", banner: printableBanner(first), tls }) };
}

/** Who may recognise what this port says, the likeliest first. */
function inOrder(opening: TcpProtocol | null, port: number): readonly TcpProtocol[] {
  const rank = (protocol: TcpProtocol) => (protocol === opening ? 0 : protocol.ports.includes(port) ? 1 : 2);
  return TCP_PROTOCOLS.filter((protocol) => protocol.isWeak !== true || rank(protocol) < 2).toSorted((a, b) => rank(a) - rank(b));
}

/** Enough when somebody recognises it, or nobody ever will. */
function isDecided(bytes: Uint8Array, possible: readonly TcpProtocol[]): boolean {
  const recognitions = new Set(possible.map((protocol) => protocol.recognise(bytes)));
  return recognitions.has("yes") || !recognitions.has("more");
}

function printableBanner(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 256)).toString("latin1").replaceAll(/[^\x20-\x7e\n]/g, ".");
}
