/** Opens what decoys serve: a port that is in use is one decoy's service less. */
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Socket } from "node:net";
import { type Clock, describeError } from "@lanthorn/runtime";
import { createBaitDocuments } from "./documents/bait-documents.ts";
import { createFileStore } from "./evidence/file-store.ts";
import { decoyCertificate } from "./personas/certificate.ts";
import { PERSONAS } from "./personas/table.ts";
import { decoySeed } from "./personas/seed.ts";
import { DATAGRAM_SERVICES } from "./services/datagrams/table.ts";
import { type DatagramServiceName, isDatagramService, type ServiceName, type StreamServiceName } from "./services/names.ts";
import type { Stage } from "./services/service.ts";
import { createSshHost } from "./services/ssh/ssh-host.ts";
import { TLS_SERVICES } from "./services/table.ts";
import { type DecoyListener, listenDecoy } from "./sessions/listen.ts";
import { type DatagramDeps, listenForDatagrams } from "./sessions/listen-datagrams.ts";
import type { DecoySettings, DecoysSettings } from "./settings.ts";

/** A service that is served, or is not. */
export interface ServedPlace {
  readonly decoy: string;
  readonly address: string;
  readonly service: ServiceName;
  readonly port: number;
  /** Null where it is served. */
  readonly problem: string | null;
}

/** A port on which somebody came. */
export interface OpenPlace<Name extends ServiceName = ServiceName> {
  readonly decoy: string;
  readonly address: string;
  readonly service: Name;
  readonly port: number;
}

/** What those who come are given to. */
export interface PlaceDeps {
  /** @param tls Null for what has no certificate. */
  readonly onConnection: (socket: Socket, source: string, place: OpenPlace<StreamServiceName>, has: { readonly stage: Stage; readonly tls: SecureContext | null }) => void;
  /** Somebody connected and was gone before the kernel could say who. */
  readonly onVanished: () => void;
  readonly datagramDeps: (service: DatagramServiceName, placeOf: () => OpenPlace) => Omit<DatagramDeps, "read">;
  readonly onFailure: (error: unknown) => void;
  /** Why a decoy's address is not there; null where it is. */
  readonly addressProblem: (decoy: string) => string | null;
  readonly clock: Clock;
}

/** All that decoys serve, what they cannot serve too. */
interface OpenPlaces {
  /** They change when addresses come and go. */
  readonly places: readonly ServedPlace[];
  /** Opens what could not be opened before, where a decoy's own address is there now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** A place at an address that a decoy takes for itself: it may come later. */
interface LatePlace {
  readonly index: number;
  readonly open: () => Promise<DecoyListener>;
  isOpen: boolean;
}

/** Opens all that can be opened now. */
export async function openPlaces(settings: DecoysSettings, deps: PlaceDeps): Promise<OpenPlaces> {
  const listeners: DecoyListener[] = [];
  const places: ServedPlace[] = [];
  const late: LatePlace[] = [];
  const files = createFileStore(join(settings.data_dir, "files"), deps.onFailure);
  for (const decoy of settings.decoys) {
    const persona = PERSONAS[decoy.persona];
    const hostname = hostnameOf(decoy);
    const services = decoy.services ?? persona.services;
    const ssh = persona.ssh !== null && services.some(({ service }) => service === "ssh") ? await createSshHost({ dataDir: settings.data_dir, hostname, ident: persona.ssh }) : null;
    const derive = decoySeed(settings.data_dir, hostname);
    const stage: Stage = { persona, hostname, ssh, files, documents: createBaitDocuments(derive), startedMs: deps.clock.now(), derive };
    const tls = services.some(({ service }) => TLS_SERVICES.has(service)) ? await secureContext(settings.data_dir, hostname, deps.clock.now()) : null;
    for (const { service, port } of services) {
      const place = { decoy: decoy.name, address: decoy.address, service };
      if (service === "ssh" && ssh === null) {
        places.push({ ...place, port, problem: `nothing here passes for the SSH of a ${decoy.persona}: leave it out, or choose another persona` });
        continue;
      }
      const open = () => openPlace({ ...place, port }, { stage, tls }, deps);
      if (decoy.own) {
        late.push({ index: places.length, open, isOpen: false });
        places.push({ ...place, port, problem: deps.addressProblem(decoy.name) });
        continue;
      }
      try {
        const listener = await open();
        listeners.push(listener);
        places.push({ ...place, port: listener.port, problem: null });
      } catch (error) {
        places.push({ ...place, port, problem: explain(error, decoy.address, port) });
      }
    }
  }
  const refresh = () => openLate(late, { places, listeners, addressProblem: deps.addressProblem });
  await refresh();
  return { places, refresh, close: async () => void (await Promise.all(listeners.map((listener) => listener.close()))) };
}

async function openLate(late: readonly LatePlace[], { places, listeners, addressProblem }: {
  readonly places: ServedPlace[]; readonly listeners: DecoyListener[]; readonly addressProblem: (decoy: string) => string | null;
}): Promise<void> {
  for (const one of late) {
    const place = places[one.index];
    if (!place) continue;
    const problem = addressProblem(place.decoy);
    try {
      if (problem === null && !one.isOpen) {
        // Before it is opened: the next look may come sooner.
        one.isOpen = true;
        const listener = await one.open();
        listeners.push(listener);
        places[one.index] = { ...place, port: listener.port, problem };
      } else if (problem !== place.problem) places[one.index] = { ...place, problem };
    } catch (error) {
      one.isOpen = false;
      places[one.index] = { ...place, problem: explain(error, place.address, place.port) };
    }
  }
}

async function openPlace({ service, ...place }: OpenPlace, { stage, tls }: { readonly stage: Stage; readonly tls: SecureContext | null }, deps: PlaceDeps): Promise<DecoyListener> {
  const { address, port } = place;
  // Port 0 becomes another one when it listens.
  const portOf = () => listener.port;
  const toPlace = <Name extends ServiceName>(name: Name): OpenPlace<Name> => ({ ...place, service: name, port: portOf() });
  const openStream = (name: StreamServiceName) => listenDecoy(address, port, {
    onConnection: (socket, source) => deps.onConnection(socket, source, toPlace(name), { stage, tls: TLS_SERVICES.has(name) ? tls : null }), onVanished: deps.onVanished,
  });
  const openDatagrams = (name: DatagramServiceName) => listenForDatagrams(address, port, { ...deps.datagramDeps(name, () => toPlace(name)), read: DATAGRAM_SERVICES[name](stage) });
  const listener: DecoyListener = await (isDatagramService(service) ? openDatagrams(service) : openStream(service));
  return listener;
}

/** @returns What its services say: its name, where the configuration names no other. */
export function hostnameOf({ hostname, name }: DecoySettings): string {
  return hostname ?? name.replaceAll(/[^A-Za-z0-9-]/g, "-").slice(0, 63);
}

async function secureContext(dataDir: string, hostname: string, nowMs: number): Promise<SecureContext> {
  const { certificate, key } = await decoyCertificate(dataDir, hostname, nowMs);
  return createSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" });
}

function explain(error: unknown, address: string, port: number): string {
  const code = (error as { readonly code?: unknown }).code;
  if (code === "EADDRINUSE") return `port ${port} of ${address} is in use: a decoy serves only what the machine itself does not`;
  if (code === "EADDRNOTAVAIL") return `${address} is no address of this machine (see: ip address)`;
  if (code === "EACCES") return `port ${port} needs the capability CAP_NET_BIND_SERVICE: start it as the service lanthorn-decoy, or as root`;
  return describeError(error);
}
