import type { Configuration } from "../../configuration.ts";
import { readPem } from "../../data-dir.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import { createSmtpMailer } from "../../deliveries/mailer.ts";
import { createHostResolver } from "../../deliveries/resolve.ts";
import { createSealing, sealingKey } from "../../deliveries/sealing.ts";
import { createSender } from "../../deliveries/send.ts";
import { createDiplomat, type Diplomat, type DiplomatDependencies } from "./diplomat.ts";

/**
 * The diplomat as a configuration wants it, with the machine's own name servers and sockets.
 * @throws CollectorError `certificate-unusable` or `config-invalid`.
 */
export function openDiplomat(
  { data_dir: dataDir, smtp, webhooks, sealing_key: key }: Configuration,
  deps: Omit<DiplomatDependencies, "sealing" | "resolve" | "sender" | "mailer">,
): Diplomat {
  const ca = webhooks.ca_file === undefined ? null : [readPem(webhooks.ca_file)];
  return createDiplomat({
    ...deps, sealing: createSealing(sealingKey(dataDir, key)), resolve: createHostResolver(deps), sender: createSender(deps, { ca }),
    mailer: smtp ? createSmtpMailer(smtp) : null,
  }, { allow: webhooks.allow, keepDays: webhooks.keep_days, keepEach: webhooks.keep_deliveries, isAlone: !hasRowLocks(deps.db) });
}
