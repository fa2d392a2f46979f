import { Duplex } from "node:stream";
import { silentLog } from "@lanthorn/runtime";
import { CHANNEL_RATE, type Channel, openChannel } from "../../channel/channel.ts";
import { type FromProcess, type ProcessCounters, ToProcess } from "../messages.ts";
import type { StartedProcess } from "../supervisor/start-process.ts";

/** What a process says that has just begun. */
export const CALM: ProcessCounters = {
  interfaces: [{ name: "eth1", up: true, frames: 10, octets: 1000, dropped_by_kernel: 0 }], shed: [], ring: { seconds: 1, bytes: 100 }, captures: [],
  continuous: null, problem: null, dropped_by_probe: 0, alerts_left_out: 0, load: 0, shedding: 0,
  rules: {
    state: "off", error: null, version: null, loaded_at: null, load_seconds: null, rules: { loaded: 0, refused: 0 }, refusals: [], since: "2026-01-01T00:00:00.000Z",
    frames: { inspected: 0, shed: 0 }, alerts: 0, costs: [],
  },
};

/** A traffic process that a test plays. */
export interface FakeProcess {
  readonly started: StartedProcess;
  readonly heard: readonly ToProcess[];
  readonly channel: Channel<FromProcess>;
  wasKilled: boolean;
  rss: number;
  /** It ends by itself, or was ended by somebody else. */
  end(how: string): void;
  say(counters?: Partial<ProcessCounters>): void;
}

/** @param clock Of the daemon's side too. */
export function createFakeProcess(pid: number, clock: Parameters<typeof openChannel>[0]["clock"]): FakeProcess {
  const [ours, theirs] = createPair();
  const heard: ToProcess[] = [];
  let resolveEnded: (how: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve;
  });
  const channel = openChannel<ToProcess, FromProcess>({
    stream: theirs, incoming: ToProcess, rate: CHANNEL_RATE, clock, onMessage: (message) => heard.push(message), onEnd: (reason) => silentLog.debug(reason),
  });
  const fake: FakeProcess = {
    heard, channel, wasKilled: false, rss: 50e6,
    started: {
      pid, stream: ours, ended, rssBytes: () => fake.rss,
      kill() {
        fake.wasKilled = true;
        fake.end("SIGKILL");
      },
    },
    end(how) {
      channel.close();
      resolveEnded(how);
    },
    say: (counters = {}) => void channel.send({ kind: "state", counters: { ...CALM, ...counters } }),
  };
  return fake;
}

/** Two streams, each of which reads what is written to the other. */
function createPair(): readonly [Duplex, Duplex] {
  const make = (other: () => Duplex): Duplex => new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      other().push(chunk);
      done();
    },
    destroy(error, done) {
      if (!other().destroyed) other().push(null);
      done(error);
    },
  });
  const one: Duplex = make(() => two);
  const two: Duplex = make(() => one);
  return [one, two];
}
