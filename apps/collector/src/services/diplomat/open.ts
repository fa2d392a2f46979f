import { readPem } from "../../data-dir.ts";
import { hasRowLocks } from "../../db/row-locks.ts";
import { createSmtpMailer } from "../../deliveries/sending/mailer.ts";
import { createHostResolver } from "../../deliveries/sending/resolve.ts";
import { createSender } from "../../deliveries/sending/send.ts";
import type { SmtpSettings, WebhookSettings } from "./configuration.ts";
import { createDiplomat, type Diplomat, type DiplomatDependencies } from "./diplomat.ts";

/**
 * The diplomat as a configuration wants it, with the machine's own name servers and sockets.
 * @throws CollectorError `certificate-unusable`.
 */
export function openDiplomat(
  { smtp, webhooks }: { readonly smtp?: SmtpSettings | undefined; readonly webhooks: WebhookSettings },
  deps: Omit<DiplomatDependencies, "resolve" | "sender" | "mailer">,
): Diplomat {
  const ca = webhooks.ca_file === undefined ? null : [readPem(webhooks.ca_file)];
  return createDiplomat({
    ...deps, resolve: createHostResolver(deps), sender: createSender(deps, { ca }),
    mailer: smtp ? createSmtpMailer(smtp) : null,
  }, { allow: webhooks.allow, keepDays: webhooks.keep_days, keepEach: webhooks.keep_deliveries, isAlone: !hasRowLocks(deps.db) });
}
