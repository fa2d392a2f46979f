import { ROLES, type User } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

const MAY: Readonly<Record<User["role"], string>> = {
  viewer: "viewer: reads all but credentials, users and the audit log", operator: "operator: also works with alerts, scans and devices", admin: "admin: may do all",
};
const MIN_PASSWORD = 12;

/** Adds a user, or changes role, e-mail address and password of one. */
export function UserDialog({ user, onClose }: { readonly user: User | null; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), role: useId(), email: useId(), password: useId() };
  const save = useMutation({
    mutationFn(fields: Readonly<Record<string, string>>) {
      const { username = "", email = "", password = "" } = fields;
      const role = ROLES.find((each) => each === fields["role"]) ?? "viewer";
      if (user === null) return rest.createUser({ username, password, role, email: email || null });
      // What stays as it is is not sent: a password revokes tokens, and one's own role cannot be changed.
      return rest.updateUser(user.id, { email: email || null, ...(role === user.role ? {} : { role }), ...(password === "" ? {} : { password }) });
    },
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["users"] });
      onClose();
    },
  });
  const submit = withForm(save.mutate);
  return (
    <Dialog title={user === null ? "Add a user" : `Change ${showForeign(user.username, 60)}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit} autoComplete="off">
        {user === null && (
          <><label htmlFor={ids.name}>Name to log in with</label><input id={ids.name} name="username" required maxLength={255} spellCheck={false} /><p>Letters, digits and . _ @ + -. It cannot be changed later.</p></>
        )}
        <label htmlFor={ids.role}>What the user may do</label>
        <select id={ids.role} name="role" defaultValue={user?.role ?? "viewer"}>{ROLES.map((role) => <option key={role} value={role}>{MAY[role]}</option>)}</select>
        <label htmlFor={ids.email}>E-mail address</label>
        <input id={ids.email} name="email" type="email" maxLength={254} defaultValue={user?.email ?? ""} placeholder="none" />
        <label htmlFor={ids.password}>{user === null ? "First password" : "New password"}</label>
        <input id={ids.password} name="password" type="password" autoComplete="new-password" minLength={MIN_PASSWORD} maxLength={1024} required={user === null} placeholder={user === null ? "" : "as before"} />
        <p>At least {MIN_PASSWORD} characters.{user !== null && " A new one ends every session of the user."}</p>
        {save.isError && <ErrorNote error={save.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={save.isPending}>{user === null ? "Add" : "Save"}</Button>
        </div>
      </form>
    </Dialog>
  );
}
