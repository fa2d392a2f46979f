import type { DnsAllowanceCreate } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

/** Allows a blocked name for an hour: for one device where one is given, else for everyone. Nothing for who may not. */
export function AllowButton({ name, scope = {} }: { readonly name: string; readonly scope?: Pick<DnsAllowanceCreate, "device_id"> }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("sensors:write");
  const allow = useMutation({ mutationFn: () => rest.createDnsAllowance({ name, ...scope }), onSuccess: () => queries.invalidateQueries({ queryKey: ["dns"] }) });
  if (!mayWrite) return null;
  if (allow.data) return <span role="status">allowed until <Moment at={allow.data.expires_at} exact /></span>;
  return (
    <>
      <Button onClick={() => allow.mutate()} disabled={allow.isPending} aria-label={`Allow for an hour: ${showForeign(name, 60)}`}>Allow for an hour</Button>
      {allow.isError && <ErrorNote error={allow.error} />}
    </>
  );
}
