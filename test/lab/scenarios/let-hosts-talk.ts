import { setTimeout as pause } from "node:timers/promises";
import type { Lab } from "../lab.ts";
import { prepareLan } from "./run-scenario.ts";

/** The LAN's hosts talk to each other, while a probe learns who they are. */
export async function letHostsTalk(lab: Lab, forMs: number): Promise<void> {
  const end = performance.now() + forMs;
  await prepareLan(lab);
  const { path, env } = lab.packages.command("ping");
  while (performance.now() < end) {
    await Promise.all([
      ...["web", "printer", "sensor", "laptop"].map((host) => lab.exec(host, path, ["-c", "1", "-W", "1", "10.77.0.1"], { env })),
      lab.exec("gateway", path, ["-c", "1", "-W", "1", "10.77.0.254"], { env }),
      lab.exec("probe", path, ["-c", "1", "-W", "1", "fd4c:616e:7468:77::20"], { env }),
    ]);
    await pause(2000);
  }
}
