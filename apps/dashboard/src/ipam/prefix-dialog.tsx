import { type IpamPrefixCreate, PREFIX_STATUSES } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Plans a network. */
export function PrefixDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const sites = useSites();
  const ids = { prefix: useId(), name: useId(), site: useId(), vlan: useId(), status: useId() };
  const create = useMutation({
    mutationFn: (body: IpamPrefixCreate) => rest.createIpamPrefix(body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["ipam"] });
      onClose();
    },
  });
  const submit = withForm(({ prefix = "", name = "", site = "", vlan = "", status }) => {
    create.mutate({
      prefix: prefix.trim(), name, description: "", site_id: site || null, vlan_id: vlan === "" ? null : Number(vlan), status: PREFIX_STATUSES.find((each) => each === status) ?? "active",
    });
  });
  return (
    <Dialog title="Add a prefix" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.prefix}>Network</label>
        <input id={ids.prefix} name="prefix" required maxLength={64} placeholder="192.0.2.0/24" spellCheck={false} />
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" maxLength={255} placeholder="Office clients" />
        <label htmlFor={ids.site}>Site</label>
        <select id={ids.site} name="site"><option value="">All sites</option>{sites.data?.data.map(({ id, name }) => <option key={id} value={id}>{showForeign(name, 60)}</option>)}</select>
        <label htmlFor={ids.vlan}>VLAN</label>
        <input id={ids.vlan} name="vlan" type="number" min={1} max={4094} placeholder="none" />
        <label htmlFor={ids.status}>State</label>
        <select id={ids.status} name="status" defaultValue="active">{PREFIX_STATUSES.map((status) => <option key={status} value={status}>{status}</option>)}</select>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
