/** A simulated site: what its devices do on working days, at nights and at weekends, with the changes of `behaviour-changes.ts`. */
import type { ObservedFlow, ObservedQuery } from "@lanthorn/anomaly";
import { seededRandom } from "@lanthorn/runtime";
import { planChanges } from "./behaviour-changes.ts";
import { BEGIN, type Change, DAY, DAYS, type Draw, type Host, HOUR, type Kind, type Scene } from "./behaviour-site.ts";

/** 200 devices. */
const NUMBERS: Readonly<Record<Kind, number>> = { workstation: 90, phone: 40, camera: 30, server: 15, printer: 15, sensor: 10 };
const SITES = 5000;
/** Countries of one visit in eight hundred: the later ones come up rarely enough to be new to the site in any week. */
const RARE_SHARE = 1 / 800;
const RARE_COUNTRIES = 60;
const HOME_COUNTRIES = ["US", "DE", "NL", "IE", "GB", "FR", "SE", "JP"];

/** What happens in an hour, in order of time. */
export type Happening = { readonly flow: ObservedFlow } | { readonly query: ObservedQuery };

/** The same site for the same seed: its changes, and its hours one after the other. */
export function makeBehaviourWorld(seed: number): { readonly changes: readonly Change[]; readonly hours: () => Generator<Happening[]> } {
  const draw = seededRandom(seed);
  const random = () => draw(2 ** 30) / 2 ** 30;
  const hosts = makeHosts(random);
  const changes = planChanges(hosts, random);
  return { changes, hours: () => runHours(hosts, changes, random) };
}

function makeHosts(random: Draw): Host[] {
  return (Object.keys(NUMBERS) as Kind[]).flatMap((kind) => Array.from({ length: NUMBERS[kind] }, (_, index) => ({
    name: `${kind}-${index}`, kind, comes: 7 + 2.5 * random(), goes: 15.5 + 3 * random(), pace: 0.5 * 4 ** random(), isAdmin: kind === "workstation" && index < 4,
  })));
}

function* runHours(hosts: readonly Host[], changes: readonly Change[], random: Draw): Generator<Happening[]> {
  for (let hour = 0; hour < DAYS * 24; hour += 1) {
    const at = BEGIN + hour * HOUR;
    const happenings: Happening[] = [];
    const emit: Scene["emit"] = (flow) => void happenings.push({ flow: wholeFlow(flow) });
    const ask = (query: ObservedQuery) => void happenings.push({ query });
    const scene = { random, hosts, emit };
    const isHoliday = changes.some((change) => change.name === "holiday" && at >= change.from && at < change.to);
    for (const host of hosts) actOrdinarily({ ...scene, ask }, host, at, isHoliday);
    for (const change of changes) if (at + HOUR > change.from && at < change.to) change.act(scene, at);
    yield happenings.toSorted((one, other) => timeOf(one) - timeOf(other));
  }
}

function timeOf(one: Happening): number {
  return "flow" in one ? one.flow.at : one.query.at;
}

/** A host outside says so by its name. */
function wholeFlow(flow: Parameters<Scene["emit"]>[0]): ObservedFlow {
  const isInside = (name: string) => !name.startsWith("out-");
  return {
    bytesOut: 800, bytesIn: 3000, packets: 12, hasFailed: false, region: isInside(flow.responder) ? "" : "US", isFirstPart: true, startedAt: flow.at,
    isOriginatorInside: isInside(flow.originator), isResponderInside: isInside(flow.responder), ...flow,
  };
}

interface OrdinaryScene extends Scene {
  readonly ask: (query: ObservedQuery) => void;
}

/** Spread evenly over the hour; the number is drawn about the mean. */
function times(scene: Scene, at: number, mean: number): number[] {
  const count = Math.floor(mean * (0.6 + 0.8 * scene.random()) + scene.random());
  return Array.from({ length: count }, () => at + HOUR * scene.random());
}

/** Log-normal about a middle value: most are small, and some are very large. */
function size(scene: Scene, middle: number, spread = 1.2): number {
  const normal = scene.random() + scene.random() + scene.random() + scene.random() + scene.random() + scene.random() - 3;
  return Math.round(middle * Math.exp(1.41 * spread * normal));
}

function isAtWork(host: Host, at: number, isHoliday: boolean, random: Draw): boolean {
  const day = Math.floor((at - BEGIN) / DAY);
  const hour = ((at - BEGIN) % DAY) / HOUR;
  if (day % 7 >= 5 || isHoliday) return random() < 0.01 && hour >= 8 && hour < 20;
  // Some stay late on some days: the same for all hours of the day, so it is drawn of host and day.
  const mood = Math.abs(Math.sin(day * 127.1 + host.pace * 311.7 + host.comes * 74.7)) * 100 % 1;
  if (mood < 0.07) return false;
  return hour >= Math.floor(host.comes) && hour < host.goes + (mood > 0.95 ? 4 : mood > 0.85 ? 1.5 : 0);
}

function actOrdinarily(scene: OrdinaryScene, host: Host, at: number, isHoliday: boolean): void {
  const { random, emit } = scene;
  const send = (flow: Omit<Parameters<Scene["emit"]>[0], "originator">) => emit({ originator: host.name, ...flow });
  const number = Number(host.name.split("-")[1]);
  if (host.kind === "workstation" || host.kind === "phone") {
    const isActive = isAtWork(host, at, isHoliday, random);
    const visits = (isActive ? (host.kind === "phone" ? 12 : 26) : host.kind === "phone" ? 3 : 1.5) * host.pace;
    for (const time of times(scene, at, visits)) browse(scene, host, time, isActive);
    if (host.kind === "workstation" && isActive) work(scene, host, at, number);
  } else if (host.kind === "camera") {
    for (const time of times(scene, at, 4)) send({ at: time, responder: "server-0", port: "tcp/554", bytesOut: size(scene, 2e7, 0.3), bytesIn: 20_000 });
    for (const time of times(scene, at, 1)) send({ at: time, responder: `out-camera-cloud-${number % 3}`, port: "tcp/443", bytesOut: size(scene, 4000, 0.5) });
  } else if (host.kind === "server") serve(scene, host, at, number);
  else if (host.kind === "sensor") for (const time of times(scene, at, 5)) send({ at: time, responder: "out-sensor-cloud", port: "tcp/8883", bytesOut: size(scene, 600, 0.4) });
  else for (const time of times(scene, at, 0.5)) send({ at: time, responder: "out-printer-cloud", port: "tcp/443" });
  for (const time of times(scene, at, 0.7)) send({ at: time, responder: `out-time-${number % 4}`, port: "udp/123", bytesOut: 76, bytesIn: 76 });
}

function browse({ random, emit, ask, ...rest }: OrdinaryScene, host: Host, at: number, isActive: boolean): void {
  const scene = { ...rest, random, emit };
  // One in four hundred sends a large file, most of them to a service that all use.
  const isUpload = random() < 0.0025;
  const isKnownService = !isActive || (isUpload && random() < 0.9);
  const site = isKnownService ? Math.floor(12 * random()) : Math.floor(SITES ** random());
  const isRare = isActive && random() < RARE_SHARE;
  const region = isRare ? `rare-${Math.floor(RARE_COUNTRIES ** random())}` : HOME_COUNTRIES[site % HOME_COUNTRIES.length] ?? "US";
  if (random() < 0.6) ask({ at, device: host.name, name: `site-${site}`, isMissing: random() < 0.02 });
  emit({
    at, originator: host.name, responder: isRare ? `out-${region}-${Math.floor(50 * random())}` : `out-site-${site}`, port: "tcp/443", region, hasFailed: random() < 0.03,
    bytesOut: isUpload ? size(scene, 4e7, 1) : size(scene, 2500), bytesIn: size(scene, 30_000),
  });
}

function work(scene: OrdinaryScene, { name, isAdmin, pace }: Host, at: number, number: number): void {
  const { random, emit } = scene;
  for (const time of times(scene, at, 5 * pace)) emit({ at: time, originator: name, responder: `server-${1 + Math.floor(3 * random())}`, port: "tcp/445", bytesOut: size(scene, 60_000, 1.5), bytesIn: size(scene, 300_000, 1.5) });
  for (const time of times(scene, at, 0.3)) emit({ at: time, originator: name, responder: `printer-${number % 15}`, port: "tcp/9100", bytesOut: size(scene, 400_000) });
  if (isAdmin) for (const time of times(scene, at, 1)) emit({ at: time, originator: name, responder: `server-${Math.floor(15 * random())}`, port: random() < 0.5 ? "tcp/22" : "tcp/3389", bytesOut: size(scene, 20_000) });
}

function serve(scene: OrdinaryScene, { name }: Host, at: number, number: number): void {
  const { random, emit, hosts } = scene;
  for (const time of times(scene, at, 3)) emit({ at: time, originator: name, responder: "server-4", port: "tcp/5432", bytesOut: size(scene, 9000), bytesIn: size(scene, 60_000) });
  for (const time of times(scene, at, 1)) emit({ at: time, originator: name, responder: `out-updates-${number % 3}`, port: "tcp/443", bytesIn: size(scene, 50_000) });
  // One polls all hosts, of which some are off.
  if (number === 14) for (const host of hosts) emit({ at: at + HOUR * random(), originator: name, responder: host.name, port: "tcp/80", bytesOut: 300, bytesIn: 500, hasFailed: random() < 0.05 });
  const hour = ((at - BEGIN) % DAY) / HOUR;
  if (number < 8 && hour === 1) for (const time of times(scene, at, 6)) emit({ at: time, originator: name, responder: "server-13", port: "tcp/873", bytesOut: size(scene, 8e8, 0.6), bytesIn: 1e6 });
}
