import type { DnsAllowance, DnsList, DnsPolicy, DnsRule } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty, Nothing } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import { DnsListDialog } from "./list-dialog.tsx";
import { DnsRuleDialog } from "./rule-dialog.tsx";
import { RemoveButton } from "../states/removal.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";

const ALL = { per_page: 1000 };

/** Block lists, policies, and the names that somebody has decided about. */
export function DnsListsPage() {
  const { rest } = useSession();
  const mayWrite = useMay("sensors:write");
  const [dialog, setDialog] = useState<"list" | "rule" | null>(null);
  const lists = useQuery({ queryKey: ["dns", "lists"], queryFn: () => rest.listDnsLists(ALL) });
  const rules = useQuery({ queryKey: ["dns", "rules"], queryFn: () => rest.listDnsRules(ALL) });
  const policies = useQuery({ queryKey: ["dns", "policies"], queryFn: () => rest.listDnsPolicies(ALL) });
  const allowances = useQuery({ queryKey: ["dns", "allowances"], queryFn: () => rest.listDnsAllowances(ALL) });
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add dns list", title: "Add a block list", group: "This page", keys: "n", run: () => setDialog("list") },
    { id: "add dns rule", title: "Block or allow a name", group: "This page", keys: "b", run: () => setDialog("rule") },
  ] : []), [mayWrite]));
  return (
    <Page
      title="DNS lists and rules" note="Which names the sites' resolvers block, and for whom."
      actions={mayWrite && <><Button onClick={() => setDialog("rule")}><Icon name="plus" />Block or allow a name</Button><Button kind="primary" onClick={() => setDialog("list")}><Icon name="plus" />Add a list</Button></>}
    >
      <SensorTabs />
      {dialog === "list" && <DnsListDialog onClose={() => setDialog(null)} />}
      {dialog === "rule" && <DnsRuleDialog onClose={() => setDialog(null)} />}
      <Panel title="Block lists" isFlush>
        <Answer query={lists}>{({ data }) => <Rows nothing={<Empty title="No list yet">None is shipped. Add one by its URL.</Empty>} heading={["List", "State", "Rules", "Checked", ...(mayWrite ? ["Action"] : [])]} rows={data.map((list) => <ListRow key={list.id} list={list} mayWrite={mayWrite} />)} />}</Answer>
      </Panel>
      <Panel title="Policies" isFlush>
        <Answer query={policies}>{({ data }) => <Rows nothing={<Empty title="No policy yet" />} heading={["Policy", "For whom", "Mode", "Answer", ...(mayWrite ? ["Action"] : [])]} rows={data.map((policy) => <PolicyRow key={policy.id} policy={policy} mayWrite={mayWrite} />)} />}</Answer>
      </Panel>
      <Panel title="Allowed for a while" isFlush>
        <Answer query={allowances}>{({ data }) => <Rows nothing={<Nothing>No name is allowed now.</Nothing>} heading={["Name", "For whom", "Until", "By", ...(mayWrite ? ["Action"] : [])]} rows={data.map((one) => <AllowanceRow key={one.id} allowance={one} mayWrite={mayWrite} />)} />}</Answer>
      </Panel>
      <Panel title="Blocked or allowed for good" isFlush>
        <Answer query={rules}>{({ data }) => <Rows nothing={<Nothing>No name is blocked or allowed by hand.</Nothing>} heading={["Name", "What", "For whom", "Why", ...(mayWrite ? ["Action"] : [])]} rows={data.map((rule) => <RuleRow key={rule.id} rule={rule} mayWrite={mayWrite} />)} />}</Answer>
      </Panel>
    </Page>
  );
}

function Rows({ heading, rows, nothing }: { readonly heading: readonly string[]; readonly rows: readonly ReactNode[]; readonly nothing: ReactNode }) {
  if (rows.length === 0) return <>{nothing}</>;
  return <Table heads={heading}>{rows}</Table>;
}

function ListRow({ list, mayWrite }: { readonly list: DnsList; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "update" | "switch") => (what === "update" ? rest.fetchDnsList(list.id) : rest.updateDnsList(list.id, { enabled: !list.enabled })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["dns", "lists"] }),
  });
  return (
    <tr>
      <td className={styles["name"]}><strong><Foreign text={list.name} longest={80} /></strong><br /><span className={styles["soft"]}><Foreign text={[list.category, list.url ?? list.file ?? "sent by hand"].join(" · ")} longest={140} /></span></td>
      <td>
        {list.error !== null ? <><Mark tone="bad">failed</Mark><p className={styles["fault"]}><Foreign text={list.error} /></p></> : <Mark tone={list.enabled ? "good" : "calm"}>{list.enabled ? (list.active === null ? "waiting" : "used") : "off"}</Mark>}
      </td>
      <td>{list.active === null ? "–" : list.active.rules.toLocaleString("en")}</td>
      <td><Moment at={list.checked_at} /></td>
      {mayWrite && (
        <td>
          <span className={styles["actions"]}>
            {list.kind !== "local" && <Button onClick={() => act.mutate("update")} disabled={act.isPending} aria-label={`Update now: ${showForeign(list.name, 60)}`}>Update now</Button>}
            <Button onClick={() => act.mutate("switch")} disabled={act.isPending} aria-label={`Turn ${list.enabled ? "off" : "on"}: ${showForeign(list.name, 60)}`}>Turn {list.enabled ? "off" : "on"}</Button>
            <RemoveButton of={list.name} then="Its names are not blocked by it any more." keys={["dns"]} remove={() => rest.deleteDnsList(list.id)} />
          </span>
          {act.isError && <ErrorNote error={act.error} />}
        </td>
      )}
    </tr>
  );
}

function PolicyRow({ policy, mayWrite }: { readonly policy: DnsPolicy; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const isEnforced = policy.mode === "enforce";
  const act = useMutation({ mutationFn: () => rest.updateDnsPolicy(policy.id, { mode: isEnforced ? "observe" : "enforce" }), onSuccess: () => queries.invalidateQueries({ queryKey: ["dns"] }) });
  return (
    <tr>
      <td className={styles["name"]}><strong><Foreign text={policy.name} longest={80} /></strong></td>
      <td><ForWhom of={policy} /></td>
      <td><Mark tone={isEnforced ? "good" : "warn"}>{policy.mode}</Mark></td>
      <td>{policy.answer === "nxdomain" ? "NXDOMAIN" : words(policy.answer)}</td>
      {mayWrite && <td><Button onClick={() => act.mutate()} disabled={act.isPending} aria-label={`${isEnforced ? "Only observe" : "Enforce"} ${showForeign(policy.name, 60)}`}>{isEnforced ? "Only observe" : "Enforce"}</Button>{act.isError && <ErrorNote error={act.error} />}</td>}
    </tr>
  );
}

function AllowanceRow({ allowance, mayWrite }: { readonly allowance: DnsAllowance; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  return (
    <tr>
      <td className={styles["name"]}><Foreign text={allowance.name} longest={120} />{allowance.has_subdomains && <span className={styles["soft"]}> and below</span>}</td>
      <td><ForWhom of={allowance} /></td><td><Moment at={allowance.expires_at} exact /></td><td><Foreign text={allowance.created_by} longest={60} /></td>
      {mayWrite && <td><RemoveButton of={allowance.name} then="Lists block it again." keys={["dns"]} remove={() => rest.deleteDnsAllowance(allowance.id)} /></td>}
    </tr>
  );
}

const RULE_TONES = { block: "bad", allow: "good", protect: "calm" } as const;

function RuleRow({ rule, mayWrite }: { readonly rule: DnsRule; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  return (
    <tr>
      <td className={styles["name"]}><Foreign text={rule.name} longest={120} />{rule.has_subdomains && <span className={styles["soft"]}> and below</span>}</td>
      <td><Mark tone={RULE_TONES[rule.action]}>{rule.action}</Mark></td><td><ForWhom of={rule} /></td>
      <td><Foreign text={rule.reason || "–"} /><br /><span className={styles["soft"]}><Foreign text={rule.created_by} longest={60} />, <Moment at={rule.created_at} /></span></td>
      {mayWrite && <td><RemoveButton of={rule.name} then="It is as lists and policies say from now on." keys={["dns"]} remove={() => rest.deleteDnsRule(rule.id)} /></td>}
    </tr>
  );
}

function ForWhom({ of: { device_id: device, group, site_id: site, vlan } }: { readonly of: Pick<DnsRule, "device_id" | "group" | "site_id" | "vlan"> }) {
  if (device !== null) return <>one device</>;
  if (group !== null) return <>devices with the tag <Foreign text={group} longest={64} /></>;
  return <>{site === null ? "everyone" : vlan === null ? "a site" : `VLAN ${vlan} of a site`}</>;
}
