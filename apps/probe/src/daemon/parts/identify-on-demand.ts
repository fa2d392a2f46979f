import type { IdentifyService } from "../../scan/identification.ts";
import type { SnmpAccess } from "../../snmp/access.ts";
import type { OpenIdentification } from "./open-identification.ts";
import type { RoundContext } from "./round-context.ts";

/**
 * Loaded by the first scan that asks what a port is: its rules would cost the quiet daemon memory.
 * @param deps.onBroken The databases failed before they had answered anything.
 */
export function createIdentify(context: RoundContext, { access, onBroken }: {
  readonly access: SnmpAccess | null;
  readonly onBroken: (reason: string) => void;
}): IdentifyService {
  const { configuration, random, clock, log, lifecycle } = context;
  let identification: OpenIdentification | null = null;
  lifecycle.onClose("identification", () => identification?.close());
  return async (openPort, signal) => {
    const { openIdentification } = await import("./open-identification.ts");
    identification ??= openIdentification({ dataDir: configuration.data_dir, access, random, clock, log, onBroken });
    return identification.identify(openPort, signal);
  };
}
