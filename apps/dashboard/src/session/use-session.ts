import type { Scope } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useSyncExternalStore } from "react";
import type { Session } from "./session.ts";

/** Holds the page's session. */
export const SessionContext = createContext<Session | null>(null);

/** @returns The page's session; whoever uses it is drawn again when it begins or ends. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session above this component");
  useSyncExternalStore(session.subscribe, session.state);
  return session;
}

/** Who is logged in: user, tenant and scopes. Asked for once. */
export function useCaller() {
  const { rest } = useSession();
  return useQuery({ queryKey: ["caller"], queryFn: () => rest.readCaller(), staleTime: Number.POSITIVE_INFINITY });
}

/** @returns Whether who is logged in has a scope; false until that is known. */
export function useMay(scope: Scope): boolean {
  return useCaller().data?.scopes.includes(scope) ?? false;
}
