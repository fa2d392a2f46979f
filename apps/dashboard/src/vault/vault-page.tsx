import type { Credential } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { Scoped } from "../session/scoped.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer, Empty } from "../states/answer.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import { CredentialDialog } from "./credential-dialog.tsx";
import { RevealDialog } from "./reveal-dialog.tsx";
import styles from "./vault-page.module.css";

const TYPES: Readonly<Record<Credential["type"], string>> = { snmp: "SNMP", snmpv3: "SNMPv3", ssh: "SSH" };

/** What probes log in to devices with. Secrets are shown one at a time, to who may, and the audit log says to whom. */
export function VaultPage() {
  const mayWrite = useMay("vault:write");
  const [isAdding, setAdding] = useState(false);
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add credential", title: "Add a credential", group: "This page", keys: "n", run: () => setAdding(true) },
  ] : []), [mayWrite]));
  return (
    <Page
      title="Vault" note="What probes log in to switches and hosts with. Secrets are encrypted at rest."
      actions={mayWrite && <Button kind="primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a credential</Button>}
    >
      {isAdding && <CredentialDialog onClose={() => setAdding(false)} />}
      <Scoped scope="vault:read"><Credentials mayWrite={mayWrite} /></Scoped>
    </Page>
  );
}

function Credentials({ mayWrite }: { readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const credentials = useQuery({ queryKey: ["credentials"], queryFn: () => rest.listCredentials({ per_page: 1000 }) });
  const mayReveal = useMay("vault:reveal");
  const [shown, setShown] = useState<Credential | null>(null);
  return (
    <Panel title="Credentials" isFlush>
      {shown && <RevealDialog credential={shown} onClose={() => setShown(null)} />}
      <Answer query={credentials}>
        {({ data }) => (data.length === 0 ? (
          <Empty title="No credentials yet">Add one for SNMP, and the probes of its sites ask switches who is at which port.</Empty>
        ) : (
          <Table heads={["Name", "Type", "Settings", "Secret", "For", "Changed", (mayWrite || mayReveal) && "Action"]}>
            {data.map((credential) => (
              <CredentialRow key={credential.id} credential={credential}>
                {(mayWrite || mayReveal) && (
                  <td><div className={styles["actions"]}>
                    {mayReveal && <Button onClick={() => setShown(credential)} aria-label={`Reveal ${showForeign(credential.name, 60)}`}>Reveal</Button>}
                    {mayWrite && <RemoveButton of={credential.name} then="Probes cannot log in with it from now on. This cannot be undone." keys={["credentials"]} remove={() => rest.deleteCredential(credential.id)} />}
                  </div></td>
                )}
              </CredentialRow>
            ))}
          </Table>
        ))}
      </Answer>
    </Panel>
  );
}

function CredentialRow({ credential: { name, type, settings, parts, networks, site_ids: siteIds, probe_ids: probeIds, updated_at: at }, children }: {
  readonly credential: Credential; readonly children: React.ReactNode;
}) {
  const sites = useSites().data?.data ?? [];
  const names = [...siteIds.map((id) => sites.find((site) => site.id === id)?.name ?? id), ...(probeIds.length === 0 ? [] : [`${probeIds.length} more probes`])];
  return (
    <tr>
      <td><strong><Foreign text={name} longest={80} /></strong></td>
      <td><Mark tone="calm">{TYPES[type]}</Mark></td>
      <td className={styles["settings"]}>{Object.entries(settings).map(([key, value]) => <span key={key}>{words(key)} <code>{showForeign(String(value), 60)}</code></span>)}</td>
      <td>{parts.length === 0 ? "none" : parts.map((part) => words(part)).join(", ")}</td>
      <td>
        {names.length === 0 ? <span className={styles["nobody"]}>no probe gets it</span> : names.map((each, at) => <Fragment key={at}>{at > 0 && ", "}<Foreign text={each} longest={60} /></Fragment>)}
        {networks.length > 0 && <><br /><code>{networks.slice(0, 4).join(", ")}</code>{networks.length > 4 && ` +${networks.length - 4}`}</>}
      </td>
      <td><Moment at={at} /></td>
      {children}
    </tr>
  );
}
