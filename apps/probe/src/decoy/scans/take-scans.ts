import type { Clock } from "@lanthorn/runtime";
import type { Exemptions } from "../ladder/exemptions.ts";
import type { Ladder } from "../ladder/ladder.ts";
import { describeLook, type ScanLook } from "./scan-look.ts";

/** @returns Takes scans that frames showed as touches of their decoys, but for those of who is exempt. The kind of scan stands for a service. */
export function createScanTaker({ places, exemptions, ladder, clock }: {
  readonly places: readonly { readonly decoy: string; readonly address: string; readonly port: number }[]; readonly exemptions: Pick<Exemptions, "takeScan">; readonly ladder: Pick<Ladder, "climb">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}): (looks: readonly ScanLook[]) => void {
  return (looks) => {
    for (const { kind, source, address, source_port: sourcePort, ports: all, port_count: count, at } of looks) {
      const ports = exemptions.takeScan(source, all, new Date(clock.now()));
      const [destinationPort] = ports;
      // Of several at one address, the one that serves such a port.
      const here = places.filter((place) => place.address === address);
      const place = here.find(({ port }) => ports.includes(port)) ?? here[0];
      if (!place || destinationPort === undefined) continue;
      ladder.climb({
        isTest: false, isProven: false, decoy: place.decoy, service: kind, source, sourcePort, destination: address, destinationPort, rung: "touch", username: "",
        detail: describeLook(kind, ports, count - all.length),
      }, Math.min(at, clock.now()), clock.monotonic());
    }
  };
}
