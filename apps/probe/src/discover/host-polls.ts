import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { Link } from "../capture/link.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import type { Host } from "../hosts/host.ts";
import type { HostListener } from "../hosts/host-events.ts";
import type { OwnHosts } from "../hosts/own-hosts.ts";
import { createMdnsNames } from "../naming/mdns-names.ts";
import { createChecks } from "./checks.ts";
import { createExpectations } from "./expectations.ts";

/** Polls single hosts: whether they are still there, whether they are where they want to be, and what they are called. */
export interface HostPolls extends Required<Pick<HostListener, "onExpected">> {
  /** Lets the host be asked for its name. */
  wantName(host: Host): void;
  /** Judges and queues who fell silent. Call it each second while the link is up. */
  checkSilent(now: number): void;
  /** Sends what is due. Call it twice a second while the link is up. */
  tick(now: number): void;
  /** Nothing could be heard until `now`: no miss before it counts. */
  startAnew(now: number): void;
  /** Ends what is being sent. */
  close(): Promise<void>;
}

/** @param deps.pollsHosts False where nobody may be polled, as with a capture file. */
export function createHostPolls(deps: {
  readonly hosts: Pick<OwnHosts, "table" | "announcer" | "tracker">;
  readonly policy: EgressPolicy;
  readonly sender: FrameSender;
  readonly link: () => Link | null;
  readonly pollsHosts: boolean;
  readonly clock: Clock;
  readonly log: Log;
}): HostPolls {
  const { hosts: { table, announcer, tracker }, policy, clock, log } = deps;
  const expectations = createExpectations();
  const mdnsNames = createMdnsNames({ clock });
  const stop = new AbortController();
  let sending: Promise<void> | null = null;
  const checks = createChecks({
    table, clock, last: tracker.last,
    mayAsk: (host) => !host.bindings.some(({ bytes }) => policy.exclusions.holds(bytes)),
    onGone: (host) => announcer.announceBy(host, clock.monotonic()),
    onAddressGone: (host, binding) => tracker.dropBinding(host, binding),
  });

  function* packets(): Generator<Uint8Array> {
    const link = deps.link();
    const now = clock.monotonic();
    if (link) yield* checks.packets(link, [expectations.packets(link, now), mdnsNames.packets(link, now)]);
  }
  const send = async () => {
    try {
      await deps.sender.send(packets(), stop.signal);
    } catch (error) {
      // What was taken from the queue may not have left: no silence counts.
      checks.startAnew(clock.monotonic());
      if (!stop.signal.aborted) log.warn({ reason: describeError(error) }, "hosts could not be checked");
    } finally {
      sending = null;
    }
  };
  return {
    onExpected: (mac, address) => expectations.add(mac, address, clock.monotonic()),
    wantName: (host) => mdnsNames.want(host),
    checkSilent(now) {
      // Nobody who was not polled has missed anything.
      if (deps.pollsHosts) checks.tick(now, Math.ceil(policy.packetsPerSecond));
    },
    tick(now) {
      expectations.settle((mac, address) => table.atAddress(address).some(({ key }) => key === mac), now);
      if (!sending && (checks.waiting || expectations.isDue(now) || mdnsNames.isDue(now))) sending = send();
    },
    startAnew: (now) => checks.startAnew(now),
    async close() {
      stop.abort(new Error("the probe stops"));
      await sending;
    },
  };
}
