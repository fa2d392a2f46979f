import type { InterfaceFacts, OnFrames, openReplay } from "@lanthorn/packet-io";
import type { Clock } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import type { LanWatch } from "./lan-watch.ts";

/** Where addresses of a file count as neighbors when nobody says: what RFC 1918, RFC 3927 and RFC 4193 keep for private use. */
const PRIVATE_NETWORKS = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7"];

/** A locally administered address that no frame in a file comes from. */
const OWN_MAC = "02:00:00:00:00:01";

/**
 * A capture file in the place of an interface, read as fast as it can be. Nothing is sent.
 * @param deps.networks Subnets whose hosts are firstRead for; the private ones when empty.
 * @param deps.onEnd Called once with what was wrong with the file, or null.
 * @throws ProbeError `config-invalid` for a file that cannot be read.
 */
export function createReplayWatch(deps: {
  readonly path: string;
  readonly networks: readonly string[];
  readonly openReplay: typeof openReplay;
  readonly clock: Clock;
  readonly onFrames: OnFrames;
  readonly onEnd: (problem: string | null) => void;
}): LanWatch {
  let ended: string | null = null;
  const finish = (problem: string | null) => {
    ended = problem ?? "the file was read to its end";
    // From here on silence says nothing of a host.
    facts = { ...facts, up: false };
    deps.onEnd(problem);
  };
  let facts: InterfaceFacts = {
    name: "replay", index: 0, mac: OWN_MAC, mtu: 1500, up: true, linkType: "ether", vlan: null, gateways: [],
    // A subnet's own address belongs to no host, so that none is taken for ours.
    addresses: (deps.networks.length > 0 ? deps.networks : PRIVATE_NETWORKS).map((network) => {
      const [ip = "", bits] = network.split("/");
      return { family: ip.includes(":") ? "ipv6" as const : "ipv4" as const, ip, prefixLength: Number(bits), scope: "global" as const };
    }),
  };
  let replay: ReturnType<typeof openReplay>;
  try {
    replay = deps.openReplay({
      path: deps.path, clock: deps.clock, pace: "at-once", onFrames: deps.onFrames,
      onEnd: () => finish(null), onLost: (reason) => finish(reason.message),
    });
  } catch (cause) {
    throw new ProbeError("config-invalid", `cannot replay ${deps.path}`, { cause });
  }
  return {
    facts: () => facts,
    firstRead: Promise.resolve(),
    sender: { send: () => Promise.resolve() },
    counters() {
      const { frames, droppedByReader } = replay.counters();
      return { frames, dropped: droppedByReader };
    },
    problem: () => ended,
    close: () => replay.close(),
  };
}
