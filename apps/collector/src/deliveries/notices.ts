import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { createJob, type Job } from "../jobs/job.ts";
import type { Mail, Mailer } from "./sending/mailer.ts";
import type { Notice, NoticesStore } from "./notices-store.ts";
import type { NoticeKind } from "./worker/settle.ts";

const POLL_EVERY_MS = 5000;
/** Waits after the first, second, … failure to send an e-mail; after the last it is dropped, and its record says so. */
const WAITS_MS: readonly number[] = [60_000, 600_000, 3_600_000, 21_600_000];
/** Longer than any mail server takes: no other process sends the notice in that time. */
const HELD_MS = 300_000;

/**
 * The job that notifies account owners by e-mail when a webhook of theirs fails or is deactivated. Every replica runs it: who holds a
 * notice first sends it.
 * @param deps.mailer Null where no mail server is configured: then only the log and the record say it.
 * @param deps.ownersOf E-mail addresses of a tenant's owners.
 */
export function createNotices(deps: {
  readonly store: NoticesStore;
  readonly mailer: Mailer | null;
  readonly ownersOf: (tenantId: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}): Job<void> {
  const { store, mailer, clock, log } = deps;

  const handle = async (notice: Notice) => {
    if (!await store.hold(notice, clock.now() + HELD_MS)) return;
    const webhook = await store.webhookOf(notice);
    if (!webhook) return store.set(notice, { status: "unsent", error: "the webhook was deleted" });
    const attempt = notice.attempt + 1;
    if (attempt === 1) log.warn(
      { tenant_id: notice.tenant_id, webhook_id: notice.webhook_id, kind: notice.kind, reason: notice.detail },
      WORDS[notice.kind as NoticeKind].title,
    );
    const to = mailer ? await deps.ownersOf(notice.tenant_id) : [];
    if (!mailer || to.length === 0) {
      const error = mailer ? "the account owner has no e-mail address" : "no mail server is configured";
      return store.set(notice, { status: "unsent", attempt, error });
    }
    try {
      await mailer.send(mailOf(notice, webhook, to));
      return await store.set(notice, { status: "sent", attempt });
    } catch (error) {
      const failure = failureOf(attempt, describeError(error), clock.now());
      const what = failure.status === "failed" ? "no further attempt is made" : "trying again later";
      log.error({ webhook_id: notice.webhook_id, attempt, reason: failure.error }, `an e-mail could not be sent, ${what}`);
      return store.set(notice, failure);
    }
  };

  return createJob(deps, {
    name: "webhook-notices", everyMs: POLL_EVERY_MS, who: "each replica", failure: "cannot read notices about webhooks, trying again",
    async run(stopped) {
      const giveUp = () => mailer?.close();
      stopped.addEventListener("abort", giveUp);
      for (const notice of await store.due(clock.now())) {
        if (stopped.aborted) break;
        await handle(notice);
      }
      stopped.removeEventListener("abort", giveUp);
    },
  });
}

/** What a notice's row says after an attempt that failed. */
function failureOf(attempt: number, error: string, now: number): Pick<Notice, "status" | "attempt" | "next_attempt_at" | "error"> {
  const waitMs = WAITS_MS[attempt - 1];
  if (waitMs === undefined) return { status: "failed", attempt, error, next_attempt_at: null };
  return { status: "pending", attempt, error, next_attempt_at: toInstant(now + waitMs) };
}

/** Lines stay below 76 characters, so that mail carries them as they are. */
const WORDS: Readonly<Record<NoticeKind, { readonly title: string; readonly meaning: readonly string[] }>> = {
  failing: {
    title: "a webhook is failing",
    meaning: [
      "Five attempts to deliver an event failed. Each new event is now sent once,",
      "without retries, until one arrives. After three days without a delivery",
      "the webhook is deactivated. Check the receiver.",
    ],
  },
  deactivated: {
    title: "a webhook was deactivated",
    meaning: [
      "No event was delivered for three days, so no more events are sent. Repair",
      "the receiver, activate the webhook again, and replay the events it missed.",
    ],
  },
  gone: {
    title: "a webhook was deactivated by its receiver",
    meaning: ["The receiver answered 410 Gone, so no more events are sent. If that was a", "mistake, activate the webhook again."],
  },
};

/** Names only the receiver's host: many services put their key into the rest of the URL. */
function mailOf(
  notice: Notice,
  webhook: { readonly id: string; readonly url: string; readonly name: string },
  to: readonly string[],
): Mail {
  const { title, meaning } = WORDS[notice.kind as NoticeKind];
  const host = URL.canParse(webhook.url) ? new URL(webhook.url).host : "";
  const text = [
    `${title[0]?.toUpperCase()}${title.slice(1)}.`, "", `tenant    ${webhook.name}`, `webhook   ${webhook.id}`, `receiver  ${host}`,
    `at        ${notice.created_at}`, `reason    ${notice.detail}`, "", ...meaning, "",
  ];
  return { to, subject: `Lanthorn: ${title} (${host})`, text: text.join("\n") };
}
