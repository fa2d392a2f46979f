import type { Clock } from "@lanthorn/runtime";
import type { Exemptions } from "../ladder/exemptions.ts";
import type { Ladder } from "../ladder/ladder.ts";
import { describeLook, type ScanLook } from "./scan-look.ts";

/** @returns Takes scans that frames showed as touches of their decoys, but for those of who is exempt. The kind of scan stands for a service. */
export function createScanTaker({ decoys, exemptions, ladder, clock }: {
  readonly decoys: readonly { readonly name: string; readonly address: string }[]; readonly exemptions: Pick<Exemptions, "takeScan">; readonly ladder: Pick<Ladder, "climb">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}): (looks: readonly ScanLook[]) => void {
  return (looks) => {
    for (const { kind, source, address, source_port: sourcePort, ports: all, port_count: count, at } of looks) {
      const decoy = decoys.find((one) => one.address === address);
      const ports = exemptions.takeScan(source, all, new Date(clock.now()));
      const [destinationPort] = ports;
      if (!decoy || destinationPort === undefined) continue;
      ladder.climb({
        isTest: false, isProven: false, decoy: decoy.name, service: kind, source, sourcePort, destination: address, destinationPort, rung: "touch", username: "",
        detail: describeLook(kind, ports, count - all.length),
      }, Math.min(at, clock.now()), clock.monotonic());
    }
  };
}
