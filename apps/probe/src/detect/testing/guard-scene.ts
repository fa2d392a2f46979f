import type { ProbeEvent, RogueDetected } from "@lanthorn/contract/uplink";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createLiveClock } from "../../bus/bus-clock.ts";
import { createFrameBus } from "../../bus/frame-bus.ts";
import type { LinkFacts } from "../../capture/link.ts";
import { createEgressPolicy } from "../../egress/policy.ts";
import { createGuards, type Guards } from "../guards.ts";
import type { Guard, GuardDeps } from "../guard.ts";
import { GuardSettings } from "../settings.ts";

/** Guards on a bus of their own, with a clock that the test moves. */
export interface GuardScene {
  readonly clock: FakeClock;
  readonly db: Database.Database;
  readonly guards: Guards;
  /** Frames that guards have sent. */
  readonly sent: Uint8Array[];
  readonly events: ProbeEvent[];
  /** Data of the events, in their order. */
  incidents(): readonly RogueDetected[];
  /** Frames come in now. */
  hear(...frames: readonly Uint8Array[]): void;
  /** The process ends and begins again, with the same database. */
  restart(): GuardScene;
}

/** The probe's own interface. */
export const OWN_LINK: LinkFacts = {
  mac: "02:00:00:00:00:01", up: true, gateways: ["192.168.1.1"],
  addresses: [{ ip: "192.168.1.2", prefixLength: 24 }, { ip: "fe80::1:1", prefixLength: 64 }],
};

/** @param options.guards Those under test; all of the table unless given. */
export function createGuardScene(options: {
  readonly guards?: readonly ((deps: GuardDeps) => Guard)[];
  readonly settings?: Parameters<typeof GuardSettings.parse>[0];
  /** The interface, or what tells it now. */
  readonly link?: LinkFacts | null | (() => LinkFacts | null);
  readonly db?: Database.Database;
  readonly clock?: FakeClock;
  readonly events?: ProbeEvent[];
} = {}): GuardScene {
  const { db = new Database(":memory:"), clock = createFakeClock(), events = [], link = OWN_LINK } = options;
  const time = createLiveClock(clock);
  const sent: Uint8Array[] = [];
  const guards = createGuards({
    db, clock: time, log: silentLog, random: () => 0.5, interfaceFacts: typeof link === "function" ? link : () => link,
    outbox: { append: (some) => void events.push(...some) },
    sender: {
      send(frames) {
        sent.push(...frames);
        return Promise.resolve();
      },
    },
    policy: createEgressPolicy({
      sweep: { enabled: true, intervalSeconds: 300, packetsPerSecond: 200, networks: [] }, scanPacketsPerSecond: 200, excluded: [],
    }),
    guardSettings: GuardSettings.parse(options.settings ?? {}),
  }, options.guards);
  const bus = createFrameBus({ modules: [guards], clock: time, log: silentLog });
  bus.start();
  return {
    clock, db, guards, sent, events,
    incidents: () => events.flatMap((event) => (event.type === "rogue_detected" ? [event.data] : [])),
    hear: (...frames) => bus.onFrames(frames.map((bytes) => ({ bytes, wireLength: bytes.length, atMicroseconds: clock.now() * 1000 }))),
    restart() {
      bus.close();
      void guards.close();
      return createGuardScene({ ...options, db, clock, events });
    },
  };
}
