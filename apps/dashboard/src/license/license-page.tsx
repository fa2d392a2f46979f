import type { License } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Facts } from "../fields/facts.tsx";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark, type Tone } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Scoped } from "../session/scoped.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./license.module.css";
import { UploadDialog } from "./upload-dialog.tsx";
import { Versions } from "./versions.tsx";

const STATES: Readonly<Record<License["status"], { readonly tone: Tone; readonly text: string }>> = {
  community: { tone: "good", text: "No license is uploaded. Nothing is limited, and nothing expires." },
  valid: { tone: "good", text: "It is signed by an issuer that this collector trusts." },
  expiring: { tone: "warn", text: "It expires soon: ask its issuer for the next one. Nothing stops when it has expired." },
  expired: { tone: "bad", text: "It has expired. Nothing stops; an alert is open until there is another one." },
  untrusted: { tone: "bad", text: "None of the issuers that this collector trusts has signed it, so it does not count. Issuers are in license.issuer_files of the collector's configuration." },
};
const LIMITS = ["probes", "devices"] as const;

/** The license that applies, how much of it is used, and which versions run. */
export function LicensePage() {
  const [isUploading, setUploading] = useState(false);
  const mayWrite = useMay("license:write");
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "upload license", title: "Upload a license", group: "This page", keys: "n", run: () => setUploading(true) },
  ] : []), [mayWrite]));
  return (
    <Page trail="Settings" title="License" note="It is verified here, without asking anybody." actions={mayWrite && <Button kind="primary" onClick={() => setUploading(true)}>Upload a license</Button>}>
      <Scoped scope="license:read"><Applying mayWrite={mayWrite} /></Scoped>
      <Versions />
      {isUploading && <UploadDialog onClose={() => setUploading(false)} />}
    </Page>
  );
}

function Applying({ mayWrite }: { readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const license = useQuery({ queryKey: ["license"], queryFn: () => rest.readLicense() });
  return (
    <Answer query={license}>
      {(known) => (
        <>
          <Panel
            title="Current license"
            actions={mayWrite && known.status !== "community" && (
              <RemoveButton of={known.license_id ?? "the license"} then="Then there is none: nothing is limited, and features that only it names are not named any more." keys={["license"]} remove={() => rest.deleteLicense()} />
            )}
          >
            <p className={styles["state"]}><Mark tone={STATES[known.status].tone}>{known.status}</Mark> {STATES[known.status].text}</p>
            {known.status !== "community" && <Facts of={factsOf(known)} />}
          </Panel>
          <Panel title="Usage">
            <ul className={styles["usage"]}>{LIMITS.map((limit) => <Usage key={limit} name={limit} used={known.usage[limit]} limit={known.limits[limit]} isExceeded={known.exceeded.includes(limit)} />)}</ul>
          </Panel>
        </>
      )}
    </Answer>
  );
}

function factsOf({ license_id: id, licensee, issued_at: issued, expires_at: expires, features, uploaded_at: at, uploaded_by: by }: License): Parameters<typeof Facts>[0]["of"] {
  const text = (value: string | null) => <Foreign text={value ?? "–"} longest={128} />;
  return [
    ["Number", text(id)], ["For", text(licensee)], ["Issued", issued === null ? "–" : <Moment key="issued" at={issued} exact />],
    ["Expires", expires === null ? "never" : <Moment key="expires" at={expires} exact />], ["Features", text(features.join(", ") || "none are named")],
    ["Uploaded", at === null ? "–" : <><Moment at={at} /> by {text(by)}</>],
  ];
}

function Usage({ name, used, limit, isExceeded }: { readonly name: (typeof LIMITS)[number]; readonly used: number; readonly limit: number | null; readonly isExceeded: boolean }) {
  return (
    <li>
      <span>{name === "probes" ? "Probes" : "Devices"}</span>
      {limit === null ? <span /> : <meter min={0} max={limit} high={limit} value={Math.min(used, limit)} aria-label={`${name} in use`} />}
      <span>{used.toLocaleString("en")} {limit === null ? "without a limit" : `of ${limit.toLocaleString("en")}`}</span>
      {isExceeded && <span><Mark tone="warn">exceeded</Mark> That raises an alert and stops nothing.</span>}
    </li>
  );
}
