import type { Honeypot, HoneypotExemption, HoneypotSession, HoneypotSessionDetail, HoneypotTranscript, HoneypotTranscripts } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { parseCount } from "../options/row-count.ts";
import { shortTime } from "../short-time.ts";
import { oneSite, siteFilter } from "../site-id.ts";
import { plainText } from "./ids.ts";
import { replayTranscript } from "./replay-transcript.ts";

type Rest = Pick<Connection, "rest">;

/** Which sessions. */
export interface HoneypotSessionsOptions {
  readonly site?: string;
  readonly decoy?: string;
  readonly source?: string;
  readonly stage?: HoneypotSession["stage"];
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
}

/** Whom to exempt. */
export interface ExemptOptions {
  readonly site?: string;
  readonly name: string;
  readonly ports?: string;
  readonly hours?: string;
  readonly reason: string;
  /** A duration or a moment; without it the exemption has no end. */
  readonly expires?: string;
}

/** Decoys with their services. @throws CliError `not-found`. */
export async function listHoneypots({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const filter = await siteFilter(rest, site);
  const all = await collect((query) => rest.listHoneypots({ ...filter, ...query }));
  if (all.length === 0) return { json: all, text: "no probe reports decoys. To set some up beside one: systemd/install.sh decoy, then /etc/lanthorn/decoy.toml" };
  const problems = all.flatMap(problemsOf);
  return {
    json: all, notes: problems,
    table: {
      heading: ["DECOY", "PERSONA", "ADDRESS", "STATE", "SERVICES", "TESTED", "ID"],
      rows: all.map(({ id, name, persona, address, own_address: own, state, services, test }) => [
        plainText(name), persona, `${plainText(address)}${own ? ` ${own.mac}` : ""}`, STATES[state], services.filter(({ problem }) => problem === null).map(({ service, port }) => `${service}:${port}`).join(" "),
        testWords(test), id,
      ]),
    },
  };
}

/** Where its address is not there, no service is: that is said once. */
function problemsOf({ name, own_address: own, services }: Honeypot): readonly string[] {
  if (own && own.problem !== null) return [`${plainText(name)} is out of reach: ${plainText(own.problem)}`];
  return services.flatMap(({ service, problem }) => (problem === null ? [] : [`${plainText(name)} does not serve ${service}: ${plainText(problem)}`]));
}

function testWords(test: Honeypot["test"]): string {
  if (test === null) return "never";
  const words = { sent: "no answer yet", done: "alerts", failed: plainText(test.error ?? "failed"), no_answer: "no answer" }[test.status];
  return `${shortTime(test.asked_at)}: ${words}`;
}

const STATES: Readonly<Record<Honeypot["state"], string>> = { serving: "serving", partly: "serving in part", failed: "not serving", stopped: "stopped", silent: "probe is silent" };

/** What decoys might be, with the lines for their machine. @throws CliError `not-found`. */
export async function proposeHoneypots({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const filter = await siteFilter(rest, site);
  const all = await collect((query) => rest.listHoneypotProposals({ ...filter, ...query }));
  if (all.length === 0) return { json: all, text: "there are no two devices of a kind that a decoy can play" };
  const blocks = all.map(({ reason, address, configuration }) => [
    `# ${plainText(reason)}`, ...(address === null ? ["# No planned network of IPAM holds them, or has room: choose a free address"] : []), ...configuration.trimEnd().split("\n").map(plainText), "",
  ].join("\n"));
  return { json: all, text: blocks.join("\n").trimEnd(), notes: ["Put what you choose into /etc/lanthorn/decoy.toml of a machine at the site, with its interface."] };
}

/** Has the probe beside a decoy try it. @param name Its name or id. @throws CliError `not-found`. */
export async function testHoneypot({ rest }: Rest, name: string, site: string | undefined): Promise<Answer> {
  const filter = await siteFilter(rest, site);
  const all = await collect((query) => rest.listHoneypots({ ...filter, ...query }));
  const [decoy, other] = all.filter((one) => one.id === name || one.name === name);
  if (!decoy) throw new CliError("not-found", `no decoy has the name ${JSON.stringify(name)}; see: lanthorn honeypot list`);
  if (other) throw new CliError("not-found", `several decoys have the name ${JSON.stringify(name)}: say which by its id, or by --site`);
  const asked = await rest.testHoneypot(decoy.id);
  return { json: asked, text: `the probe tries ${plainText(asked.name)} now, which raises no alert; what came of it: lanthorn honeypot list` };
}

/** What was done at decoys, the newest first. @throws CliError `not-found`; `bad-option`. */
export async function listHoneypotSessions({ rest }: Rest, { site, decoy, source, stage, since, until, limit }: HoneypotSessionsOptions): Promise<Answer> {
  const { data, meta } = await rest.listHoneypotSessions({
    ...await siteFilter(rest, site), ...(decoy !== undefined && { decoy }), ...(source !== undefined && { source_ip: source }), ...(stage !== undefined && { stage }),
    ...(since !== undefined && { since }), ...(until !== undefined && { until }), per_page: parseCount(limit, 1000),
  });
  if (data.length === 0) return { json: data, text: "nobody touched a decoy, as far as that matches" };
  return {
    json: data, notes: meta.total > data.length ? [`${data.length} of ${meta.total}: narrow it down, or raise --limit`] : [],
    table: {
      heading: ["LAST", "SOURCE", "DECOY", "STAGE", "SEVERITY", "SERVICES", "CONNECTIONS", "GUESSES", "ID"],
      rows: data.map((row) => [
        shortTime(row.last_at), row.source_ip, plainText(row.decoy), row.is_test ? `${row.stage} (test)` : row.stage, row.severity, row.services.map(plainText).join(" "), String(row.connections),
        String(row.credentials), row.id,
      ]),
    },
  };
}

/** One session with its rungs. */
export async function showHoneypotSession({ rest }: Rest, id: string): Promise<Answer> {
  const session = await rest.readHoneypotSession(id);
  return { json: session, text: linesOf(session).map(plainText).join("\n") };
}

function linesOf(session: HoneypotSessionDetail): readonly string[] {
  const { source_ip: ip, source_mac: mac, decoy, usernames, mitre_techniques: techniques, clients } = session;
  return [
    `${ip}${mac === "" ? "" : ` (${mac})`} at ${decoy}: ${session.stage}, ${session.severity}${session.is_test ? ", a test" : ""}`,
    `${shortTime(session.started_at)} to ${shortTime(session.last_at)}: ${session.detail}`,
    ...clients.map(({ kind, value, service }) => `${kind === "software" ? "Client" : kind.toUpperCase()} at ${service}: ${value}`),
    ...(usernames.length === 0 ? [] : [`User names: ${usernames.join(", ")}`]), ...(techniques.length === 0 ? [] : [`ATT&CK: ${techniques.join(", ")}`]), "",
    ...session.rungs.map(({ at, stage, service, destination_port: port, username, detail }) => `${shortTime(at)}  ${stage} at ${service} (${port})${username === "" ? "" : ` as ${username}`}: ${detail}`),
  ];
}

/** What was done in the shells of a session. */
export async function replayHoneypotSession({ rest }: Rest, id: string): Promise<Answer> {
  const transcripts: HoneypotTranscript[] = [];
  let cursor: string | null = null;
  do {
    const read: HoneypotTranscripts = await rest.readHoneypotTranscripts(id, cursor === null ? {} : { cursor });
    transcripts.push(...read.transcripts);
    cursor = read.next_cursor;
  } while (cursor !== null);
  if (transcripts.length === 0) return { json: transcripts, text: "nobody typed anything in a shell there; a shell opens for bait credentials alone" };
  return { json: transcripts, text: transcripts.map(({ service, recorded_at: at, asciicast }) => `--- ${plainText(service)}, until ${shortTime(at)}\n${replayTranscript(asciicast)}`).join("\n") };
}

/** Files that were sent in a session, and documents of the decoy that were read. */
export async function listHoneypotFiles({ rest }: Rest, id: string): Promise<Answer> {
  const { files } = await rest.listHoneypotFiles(id);
  return {
    json: files, table: {
      heading: ["RECORDED", "DIRECTION", "SERVICE", "NAME", "BYTES", "KEPT", "SHA-256"],
      rows: files.map(({ recorded_at: at, service, name, octets, is_kept: isKept, sha256, direction }) => [shortTime(at), direction, plainText(service), plainText(name), String(octets), isKept ? "yes" : "no", sha256]),
    },
  };
}

/** Lets addresses touch a site's decoys. @param now Milliseconds since the epoch. @throws CliError `bad-option`; `not-found`. */
export async function exempt({ rest }: Rest, addresses: readonly string[], { site, name, ports, hours, reason, expires }: ExemptOptions, now: number): Promise<Answer> {
  const made = await rest.createHoneypotExemption({
    site_id: await oneSite(rest, site), name, addresses: [...addresses], reason, ...(ports !== undefined && { ports: parsePorts(ports) }), ...(hours !== undefined && { hours }),
    ...(expires !== undefined && { expires_at: parseExpiry(expires, now) }),
  });
  return { ...answerExemptions([made]), json: made, notes: ["Decoys of the site serve and count these connections, and report them to nobody.", "Take it back with: lanthorn honeypot unexempt ID"] };
}

/** Exemptions that have not expired. */
export async function listExemptions({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const filter = await siteFilter(rest, site);
  return answerExemptions(await collect((query) => rest.listHoneypotExemptions({ ...filter, ...query })));
}

/** Ends an exemption. */
export async function unexempt({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteHoneypotExemption(id);
  return { json: { id }, text: `ended the exemption ${id}: who was exempt is reported again` };
}

function parsePorts(text: string): number[] {
  const ports = text.split(",").map(Number);
  if (ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) return ports;
  throw new CliError("bad-option", `--ports: ${JSON.stringify(text)} is no list of ports as 80,443`);
}

function answerExemptions(exemptions: readonly HoneypotExemption[]): Answer {
  return {
    json: exemptions,
    table: {
      heading: ["NAME", "ADDRESSES", "PORTS", "HOURS", "UNTIL", "REASON", "BY", "ID"],
      rows: exemptions.map(({ id, name, addresses, ports, hours, expires_at: until, reason, created_by: by }) => [
        plainText(name), addresses.join(" "), ports.join(",") || "all", hours ?? "always", until === null ? "no end" : shortTime(until), plainText(reason), plainText(by), id,
      ]),
    },
  };
}
