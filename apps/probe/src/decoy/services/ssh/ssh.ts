import type { Service } from "../service.ts";

/** SSH up to the password, by the host of the decoy, which reads the stream itself. */
export const ssh: Service = (peer, stage) => {
  stage.ssh?.(peer);
  return () => undefined;
};
