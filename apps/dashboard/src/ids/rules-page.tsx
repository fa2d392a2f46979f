import { IDS_RULE_STATES, type IdsRule } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { SensorTabs } from "../sensors/tabs.tsx";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useNumberedList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { OverrideDialog } from "./override-dialog.tsx";
import { Overrides } from "./overrides.tsx";
import { Rulesets } from "./rulesets.tsx";

const route = getRouteApi("/sensors/ids/rules");
const PAGE_SIZE = 100;
const STATES = choicesOf([...IDS_RULE_STATES, "modified"], "Any state");
const TONES = { enabled: "good", disabled: "calm", refused: "warn" } as const;

/** Rule sets, their rules as they count, and what somebody changed in them. */
export function IdsRulesPage() {
  const { rest } = useSession();
  const navigate = route.useNavigate();
  const { page: _page, per_page: _perPage, ...filter } = route.useSearch();
  const rules = useNumberedList({ queryKey: ["ids", "rules", filter], read: (page) => rest.listIdsRules({ ...filter, page, per_page: PAGE_SIZE }) });
  const set = (name: "search" | "state" | "signature_id", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page title="Intrusion rules" note="Rules in Suricata's language: where they come from, which count, and what was changed in them.">
      <SensorTabs />
      <Rulesets siteId={filter.site_id} />
      <div className={filters["filters"]} role="search">
        <SearchBox label="Search rules" placeholder="Part of a rule" longest={200} given={filter.search} onChange={(text) => set("search", text)} />
        <Choose label="State" value={filter.state} options={STATES} onChange={(value) => set("state", value)} />
        {filter.signature_id !== undefined && <Button onClick={() => set("signature_id", "")}>Only rule {filter.signature_id}: show all</Button>}
      </div>
      <Panel title={rules.data ? count(rules.data.total, "rule") : "Rules"} isFlush>
        <Answer query={rules}>
          {({ list, total }) => (total === 0 ? <Empty title={isFiltered ? "The filter leaves nothing" : "No rules yet"}>{isFiltered ? "No rule is like this." : "None are shipped. Add a rule set by its URL."}</Empty> : (
            <>
              <RulesTable rules={list} siteId={filter.site_id} />
              {rules.hasNextPage && <p className={styles["more"]}><Button onClick={() => void rules.fetchNextPage()} disabled={rules.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
      <Overrides />
    </Page>
  );
}

function RulesTable({ rules, siteId }: { readonly rules: readonly IdsRule[]; readonly siteId: string | undefined }) {
  const mayWrite = useMay("sensors:write");
  const [chosen, setChosen] = useState<string | null>(null);
  const [changing, setChanging] = useState<IdsRule | null>(null);
  return (
    <>
      {changing !== null && <OverrideDialog rule={changing} siteId={siteId} onClose={() => setChanging(null)} />}
      <Table heads={["Rule", "Severity", "State", "Action"]}>
        {rules.flatMap((rule) => {
          const key = `${rule.ruleset_id} ${rule.generator_id}:${rule.signature_id}`;
          return [
            <tr key={key}>
              <td className={styles["name"]}><strong><Foreign text={rule.signature} longest={160} /></strong><br /><span className={styles["soft"]}><Foreign text={[rule.signature_id, rule.category, rule.class, ...rule.mitre_techniques].filter(Boolean).join(" · ")} longest={140} /></span></td>
              <td><SeverityMark severity={rule.severity} /></td>
              <td><Mark tone={TONES[rule.state]}>{rule.state}</Mark>{rule.modified && <> <Mark tone="calm">modified</Mark></>}{rule.refusal !== null && <p className={styles["soft"]}><Foreign text={`${rule.refusal.keyword}: ${rule.refusal.reason}`} /></p>}</td>
              <td>
                <span className={styles["actions"]}>
                  <Button onClick={() => setChosen(chosen === key ? null : key)} aria-expanded={chosen === key} aria-label={`Show rule ${rule.signature_id}`}>Show</Button>
                  {mayWrite && rule.state !== "refused" && <Button onClick={() => setChanging(rule)} aria-label={`${rule.state === "enabled" ? "Disable" : "Enable"} rule ${rule.signature_id}`}>{rule.state === "enabled" ? "Disable…" : "Enable…"}</Button>}
                </span>
              </td>
            </tr>,
            ...(chosen === key ? [<tr key={`${key} text`}><td colSpan={4}><RuleText rule={rule} siteId={siteId} /></td></tr>] : []),
          ];
        })}
      </Table>
    </>
  );
}

function RuleText({ rule, siteId }: { readonly rule: IdsRule; readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const details = useQuery({
    queryKey: ["ids", "rule", rule.generator_id, rule.signature_id, siteId],
    queryFn: () => rest.readIdsRule(String(rule.signature_id), { generator_id: rule.generator_id, site_id: siteId }),
  });
  return <Answer query={details}>{({ text, alerts }) => <><p className={styles["soft"]}>It matched {alerts.toLocaleString("en")} times in 90 days.</p><pre className={styles["rule"]} tabIndex={0}><Foreign text={text} longest={8000} /></pre></>}</Answer>;
}
