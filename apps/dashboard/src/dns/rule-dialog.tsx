import type { DnsRule } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

const ACTIONS: Readonly<Record<DnsRule["action"], string>> = {
  block: "Block it", allow: "Allow it: no list blocks it", protect: "Protect it: a list that would block it is held back",
};

/** Blocks, allows or protects a name for everyone, for good. */
export function DnsRuleDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), action: useId(), reason: useId() };
  const create = useMutation({
    mutationFn: ({ name = "", action = "block", reason = "" }: Readonly<Record<string, string>>) => rest.createDnsRule({ name, action: action as DnsRule["action"], reason }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["dns"] });
      onClose();
    },
  });
  const submit = withForm(create.mutate);
  return (
    <Dialog title="Block or allow a name" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name, with all below it</label>
        <input id={ids.name} name="name" required maxLength={254} spellCheck={false} autoComplete="off" placeholder="shop.example" />
        <label htmlFor={ids.action}>What is done</label>
        <select id={ids.action} name="action">{Object.entries(ACTIONS).map(([action, text]) => <option key={action} value={action}>{text}</option>)}</select>
        <label htmlFor={ids.reason}>Why</label>
        <input id={ids.reason} name="reason" maxLength={255} />
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Decide</Button>
        </div>
      </form>
    </Dialog>
  );
}
