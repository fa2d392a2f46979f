import { ROLES, type User } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { Scoped } from "../session/scoped.tsx";
import { useCaller, useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { UserDialog } from "./user-dialog.tsx";

const route = getRouteApi("/settings/users");

/** People who may log in, and what each may do. */
export function UsersPage() {
  const mayWrite = useMay("users:write");
  const [open, setOpen] = useState<"create" | User | null>(null);
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "create user", title: "Add a user", group: "This page", keys: "n", run: () => setOpen("create") },
  ] : []), [mayWrite]));
  return (
    <Page
      trail="Settings" title="Users" note="People who may log in. Programs have API keys."
      actions={mayWrite && <Button kind="primary" onClick={() => setOpen("create")}><Icon name="plus" />Add a user</Button>}
    >
      {open !== null && <UserDialog user={open === "create" ? null : open} onClose={() => setOpen(null)} />}
      <Scoped scope="users:read"><Users onChange={mayWrite ? setOpen : null} /></Scoped>
    </Page>
  );
}

function Users({ onChange }: { readonly onChange: ((user: User) => void) | null }) {
  const { rest } = useSession();
  const { search, role } = route.useSearch();
  const navigate = route.useNavigate();
  const users = useQuery({ queryKey: ["users", search, role], queryFn: () => rest.listUsers({ search, role, per_page: 1000 }) });
  const set = (name: "search" | "role", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value || undefined }), replace: true });
  return (
    <>
      <div className={filters["filters"]} role="search">
        <SearchBox label="Search users" placeholder="Name or e-mail address" longest={255} given={search} onChange={(text) => set("search", text)} />
        <Choose label="Role" value={role} options={choicesOf(ROLES, "Any role")} onChange={(value) => set("role", value)} />
      </div>
      <Panel title={users.data ? count(users.data.meta.total, "user") : "Users"} isFlush>
        <Answer query={users}>
          {({ data }) => (data.length === 0 ? <Empty title="The filter leaves nothing">No user is like this.</Empty> : <UsersTable users={data} onChange={onChange} />)}
        </Answer>
      </Panel>
    </>
  );
}

function UsersTable({ users, onChange }: { readonly users: readonly User[]; readonly onChange: ((user: User) => void) | null }) {
  const { rest } = useSession();
  const own = useCaller().data?.user.id;
  return (
    <Table heads={["Name", "Role", "E-mail", "Added", "Last login", onChange && "Action"]}>
      {users.map((user) => (
        <tr key={user.id}>
          <td><strong><Foreign text={user.username} longest={80} /></strong>{user.id === own && " (you)"}</td>
          <td><Mark tone="calm">{user.role}</Mark></td>
          <td>{user.email === null ? "–" : <Foreign text={user.email} longest={80} />}</td>
          <td><Moment at={user.created_at} /></td>
          <td><Moment at={user.last_login_at} /></td>
          {onChange && (
            <td>
              <Button onClick={() => onChange(user)} aria-label={`Change ${showForeign(user.username, 60)}`}>Change</Button>{" "}
              {user.id !== own && (
                <RemoveButton of={user.username} then="The user cannot log in from now on, and the user's API keys are revoked. This cannot be undone." keys={["users"]} remove={() => rest.deleteUser(user.id)} />
              )}
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}
