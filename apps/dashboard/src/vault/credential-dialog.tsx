import { CREDENTIAL_TYPES, type CredentialType } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import * as z from "zod";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";
import { words } from "../texts/words.ts";
import { CREDENTIAL_FIELDS, type CredentialField, credentialOf } from "./credential-fields.ts";
import styles from "./vault-page.module.css";

const TYPES: Readonly<Record<CredentialType, string>> = { snmp: "SNMP, with a community", snmpv3: "SNMPv3", ssh: "SSH" };

/** Stores a credential. Its secret is sent once and never shown by itself. */
export function CredentialDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const sites = useSites();
  const [type, setType] = useState<CredentialType>("snmp");
  const [siteIds, setSiteIds] = useState<readonly string[]>([]);
  const ids = { name: useId(), type: useId(), networks: useId() };
  const create = useMutation({
    mutationFn: async (fields: Readonly<Record<string, string>>) => rest.createCredential(credentialOf(type, fields, siteIds)),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["credentials"] });
      onClose();
    },
  });
  const submit = withForm(create.mutate);
  return (
    <Dialog title="Add a credential" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit} autoComplete="off">
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" required maxLength={255} placeholder="Switches, read only" />
        <label htmlFor={ids.type}>Type</label>
        <select id={ids.type} value={type} onChange={(event) => setType(CREDENTIAL_TYPES.find((each) => each === event.target.value) ?? type)}>
          {CREDENTIAL_TYPES.map((each) => <option key={each} value={each}>{TYPES[each]}</option>)}
        </select>
        {CREDENTIAL_FIELDS[type].map((field) => <Field key={`${type} ${field.name}`} {...field} />)}
        <label htmlFor={ids.networks}>Hosts that it is for</label>
        <input id={ids.networks} name="networks" placeholder="10.0.0.0/24, 10.0.1.5/32" spellCheck={false} />
        <p>{type === "ssh" ? "Empty: every host." : "Empty: only hosts that a probe's own file lists."}</p>
        <fieldset className={styles["sites"]} tabIndex={0}>
          <legend>Sites whose probes get it</legend>
          {sites.data?.data.map(({ id, name }) => (
            <label key={id}>
              <input type="checkbox" checked={siteIds.includes(id)} onChange={(event) => setSiteIds(event.target.checked ? [...siteIds, id] : siteIds.filter((each) => each !== id))} />{showForeign(name, 60)}
            </label>
          ))}
        </fieldset>
        {create.isError && (create.error instanceof z.ZodError ? <p role="alert">{create.error.issues.slice(0, 3).map(({ path, message }) => `${words(path.join(" "))}: ${message}`).join("; ")}</p> : <ErrorNote error={create.error} />)}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Store it</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Field({ name, label, kind, isRequired = false }: CredentialField) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{label}</label>
      {typeof kind !== "string" ? <select id={id} name={name}>{kind.map((each) => <option key={each} value={each}>{each}</option>)}</select>
        : kind === "key" ? <textarea id={id} name={name} rows={3} maxLength={8192} spellCheck={false} />
          : <input id={id} name={name} type={kind} autoComplete="new-password" required={isRequired} maxLength={255} spellCheck={false} />}
    </>
  );
}
