import { readAnswer } from "@lanthorn/fingerprints";
import { type Connection, openConnection, type TlsSession } from "./connection.ts";
import { type AskDatagram, askDatagram } from "./datagrams.ts";
import { type ServiceFinding, toFinding } from "./finding.ts";
import type { Learned, Target, TcpProtocol, UdpProtocol } from "./protocol.ts";
import { TCP_PROTOCOLS, UDP_PROTOCOLS } from "./protocols.ts";

/** A port that answered. */
export interface OpenPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: "tcp" | "udp";
}

export interface IdentifyDeps {
  /** Below 1. */
  readonly random: () => number;
  readonly connect?: typeof openConnection;
  readonly ask?: AskDatagram;
}

/** Printers print whatever reaches these; LPD is known by its number alone. */
const PRINT_PORTS: ReadonlySet<number> = new Set([515, ...Array.from({ length: 8 }, (_, index) => 9100 + index)]);

/** Ports where TLS comes first. */
const TLS_PORTS: ReadonlySet<number> = new Set([443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 4443, 5061, 5223, 5671, 5986, 6443, 6514, 6697, 8443, 8883, 9443, 10250]);

const CONNECT_MS = 3000;
/** Who speaks first does so at once; slow ones look up the caller's name before. */
const GREETING_MS = 700;
const LATE_GREETING_MS = 5000;
const ANSWER_MS = 2500;
const TLS_MS = 4000;
/** For one port, all together. */
const MOST_CONNECTIONS = 6;
const MOST_MS = 15_000;

/**
 * Asks an open port what it is: with few connections, the likeliest question first, nothing that a log calls a failed login, and bounded in
 * bytes and time whatever it answers.
 * @param signal Ends it at once; it resolves to null then.
 * @returns Null where nothing was learned. Does not reject.
 */
export async function identifyService(openPort: OpenPort, deps: IdentifyDeps, signal: AbortSignal): Promise<ServiceFinding | null> {
  if (openPort.protocol === "tcp" && PRINT_PORTS.has(openPort.port)) {
    return openPort.port === 515 ? toFinding({ service: "printer", claims: [], keys: [], banner: "", tls: null }) : null;
  }
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)]);
  const found = openPort.protocol === "tcp" ? await identifyTcp(openPort, deps, bounded) : await identifyUdp(openPort, deps, bounded);
  return signal.aborted ? null : found;
}

interface Asking {
  readonly openPort: OpenPort;
  readonly signal: AbortSignal;
  readonly connect: typeof openConnection;
}

async function identifyTcp(openPort: OpenPort, deps: IdentifyDeps, signal: AbortSignal): Promise<ServiceFinding | null> {
  const asking = { openPort, signal, connect: deps.connect ?? openConnection };
  const expectsTls = TLS_PORTS.has(openPort.port);
  const openings = planOpenings(openPort.port, expectsTls);
  let unknown: ServiceFinding | null = null;
  for (const opening of openings.slice(0, MOST_CONNECTIONS)) {
    if (signal.aborted) break;
    const found = opening === "tls" ? await tryTls(asking) : await tryPlain(asking, opening);
    if (found?.isKnown) return found.finding;
    unknown ??= found?.finding ?? null;
  }
  return unknown;
}

/** A connection that begins with TLS, or with a protocol's hello; or, for null, with listening first and the likeliest hello after. */
type Opening = "tls" | TcpProtocol | null;

function planOpenings(port: number, expectsTls: boolean): readonly Opening[] {
  const likely = TCP_PROTOCOLS.filter((protocol) => protocol.ports.includes(port));
  const likelyHellos = likely.filter((protocol) => protocol.hello);
  const general = TCP_PROTOCOLS.filter((protocol) => protocol.hello && protocol.ownPortsOnly !== true && !likely.includes(protocol));
  const plain: readonly Opening[] = likelyHellos.length > 0 ? [...likelyHellos, null] : [null];
  return expectsTls ? ["tls", ...plain, ...general] : [...plain, "tls", ...general];
}

interface Attempt {
  /** Whether a protocol was recognised, or only something answered. */
  readonly isKnown: boolean;
  readonly finding: ServiceFinding;
}

async function tryPlain(asking: Asking, opening: TcpProtocol | null): Promise<Attempt | null> {
  const connection = await asking.connect(asking.openPort, { timeoutMs: CONNECT_MS, signal: asking.signal });
  if (!connection) return null;
  try {
    return await converse(connection, opening, { ...asking.openPort, isSecure: false }, null);
  } finally {
    connection.close();
  }
}

async function tryTls(asking: Asking): Promise<Attempt | null> {
  const connection = await asking.connect(asking.openPort, { timeoutMs: CONNECT_MS, signal: asking.signal });
  if (!connection) return null;
  try {
    const session = await connection.startTls({ timeoutMs: TLS_MS, alpn: ["h2", "http/1.1"] });
    if (!session) return null;
    const target = { ...asking.openPort, isSecure: true };
    const likely = TCP_PROTOCOLS.filter((protocol) => protocol.ports.includes(target.port));
    const opening = session.alpn === "h2" ? (TCP_PROTOCOLS.find((protocol) => protocol.name === "http2") ?? null)
      : likely.find((protocol) => protocol.hello) ?? (likely.length > 0 ? null : TCP_PROTOCOLS.find((protocol) => protocol.name === "http") ?? null);
    const found = await converse(connection, opening, target, session);
    return found ?? { isKnown: true, finding: toFinding({ service: "ssl", claims: [], keys: [], banner: "", tls: session }) };
  } finally {
    connection.close();
  }
}

/** Says hello where the opening has one, else listens first; then lets whoever recognises the answer go on. */
async function converse(connection: Connection, opening: TcpProtocol | null, target: Target, tls: TlsSession | null): Promise<Attempt | null> {
  const http = TCP_PROTOCOLS.find((protocol) => protocol.name === "http");
  let asked = opening;
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
  if (hello.length > 4 && Buffer.from(first.subarray(0, hello.length)).equals(hello)) {
    return { isKnown: true, finding: toFinding({ service: "echo", claims: [], keys: [], banner: "", tls }) };
  }
  for (const protocol of inOrder(asked, target.port)) {
    if (protocol.recognise(first) !== "yes") continue;
    const result = await protocol.learn(first, connection, target);
    if (result) return { isKnown: true, finding: describe(result, tls) };
  }
  const banner = printableBanner(first);
  return { isKnown: false, finding: toFinding({ service: tls ? "ssl" : "", claims: [], keys: [], banner, tls }) };
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

async function identifyUdp(openPort: OpenPort, deps: IdentifyDeps, signal: AbortSignal): Promise<ServiceFinding | null> {
  const ask = deps.ask ?? askDatagram;
  for (const protocol of UDP_PROTOCOLS.filter((one) => one.ports.includes(openPort.port))) {
    const result = await askUdp(protocol, (question) => ask(openPort, question, { timeoutMs: 1500, signal, fromAnyPort: protocol.answersFromAnyPort ?? false }), deps.random);
    if (result) return describe(result, null);
  }
  return null;
}

async function askUdp(protocol: UdpProtocol, ask: (question: Uint8Array) => Promise<Uint8Array | null>, random: () => number): Promise<Learned | null> {
  for (const question of protocol.questions) {
    const bytes = question(random);
    // A datagram may be lost: once more is worth it, thrice is not.
    const answer = (await ask(bytes)) ?? (await ask(bytes));
    const result = answer && (await protocol.learn(answer, ask));
    if (result) return result;
  }
  return null;
}

function describe(result: Learned, tls: TlsSession | null): ServiceFinding {
  const claims = [...result.claims, ...result.answers.flatMap(({ kind, text }) => readAnswer(kind, text))];
  return toFinding({ service: result.service, claims, keys: result.keys, banner: result.banner, tls: result.tls ?? tls });
}

function printableBanner(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 256)).toString("latin1").replaceAll(/[^\x20-\x7e\n]/g, ".");
}
