import { createHasshReader } from "../../evidence/client-fingerprints.ts";
import type { Service } from "../service.ts";

/** SSH by the host of the decoy, which reads the stream itself. */
export const ssh: Service = (peer, stage) => {
  stage.ssh?.(peer, stage);
  return createHasshReader((hassh) => peer.isProgram("hassh", hassh));
};
