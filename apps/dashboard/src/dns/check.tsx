import type { DnsCheck } from "@lanthorn/contract";
import { useMutation } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Mark, type Tone } from "../parts/mark.tsx";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { AllowButton } from "./allow-button.tsx";
import styles from "../sensors/sensors.module.css";

const TONES: Readonly<Record<DnsCheck["action"], Tone>> = { allow: "good", block: "bad", rewrite: "warn", drop: "bad", truncate: "warn" };
const TYPES = { 1: "A", 28: "AAAA", 65: "HTTPS", 5: "CNAME", 15: "MX", 16: "TXT" };

/** What a site's resolver does with a name, and why. */
export function DnsCheckForm() {
  const { rest } = useSession();
  const ids = { name: useId(), type: useId(), site: useId() };
  const chosen = useSearch({ strict: false, select: ({ site_id: siteId }) => siteId });
  const sites = useSites().data?.data ?? [];
  const check = useMutation({
    mutationFn: ({ name = "", type = "1", site }: Readonly<Record<string, string>>) => rest.checkDnsName({ name: name.trim(), type, site_id: site ?? chosen ?? sites[0]?.id }),
  });
  const submit = withForm(check.mutate);
  return (
    <>
      <form className={styles["check"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name<input id={ids.name} name="name" required maxLength={254} spellCheck={false} autoComplete="off" placeholder="shop.example" /></label>
        <label htmlFor={ids.type}>Type<select id={ids.type} name="type">{Object.entries(TYPES).map(([number, text]) => <option key={number} value={number}>{text}</option>)}</select></label>
        {chosen === undefined && sites.length > 1 && (
          <label htmlFor={ids.site}>Site<select id={ids.site} name="site">{sites.map(({ id, name }) => <option key={id} value={id}>{showForeign(name, 60)}</option>)}</select></label>
        )}
        <Button kind="primary" type="submit" disabled={check.isPending}>Check</Button>
      </form>
      <div role="status">{check.data && <Verdict key={check.data.name} check={check.data} />}</div>
      {check.isError && <ErrorNote error={check.error} />}
    </>
  );
}

function Verdict({ check }: { readonly check: DnsCheck }) {
  const decided = check.rule ?? check.observed;
  return (
    <div className={styles["verdict"]}>
      <p><Mark tone={TONES[check.action]}>{check.action}</Mark> <strong><Foreign text={check.name} longest={120} /></strong>: {check.reason.replaceAll("-", " ")}{check.policy !== null && <>, by the policy <Foreign text={check.policy} longest={80} /></>}</p>
      {decided !== null && <p>{check.rule === null ? "It would be decided by" : "Decided by"} <code><Foreign text={decided.rule} longest={120} /></code> of <Foreign text={decided.list} longest={80} /> ({decided.category}), on it since {decided.first_seen}.</p>}
      {check.allow_name !== null && <AllowButton name={check.allow_name} />}
      <ol className={styles["steps"]}>{check.steps.map(({ step, record, text }, at) => <li key={at}>{step}{record !== null && <> <code><Foreign text={record} longest={120} /></code></>}: <Foreign text={text} longest={300} /></li>)}</ol>
    </div>
  );
}
