import { ClientError } from "@lanthorn/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { clock } from "./clock.ts";
import { forgetPreferences, loadTheme } from "./preferences/preferences.ts";
import { createPages } from "./router.tsx";
import { LeavingPage } from "./session/leaving-page.tsx";
import { LoginPage } from "./session/login-page.tsx";
import { createSession } from "./session/session.ts";
import { SessionContext, useSession } from "./session/use-session.ts";
import { REFETCH_MS } from "./states/use-list.ts";
import "./styles/tokens.css";
import "./styles/base.css";

loadTheme();
const base = new URL(document.baseURI);
const session = createSession({ url: base.href.replace(/\/$/, ""), fetch: (url, init) => fetch(url, init), now: clock.now, after: clock.after });
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000, refetchInterval: REFETCH_MS, refetchOnWindowFocus: false, networkMode: "always",
      // Another refusal does not change by being asked for again, and takes from the limit.
      retry: (count, error) => count < 1 && error instanceof ClientError
        && (error.code === "unreachable" || error.code === "RATE_LIMITED" || error.status >= 500),
      retryDelay: (_count, error) => (error instanceof ClientError && error.retryAfterSeconds !== null ? error.retryAfterSeconds * 1000 : 1000),
    },
    mutations: { networkMode: "always" },
  },
});
const router = createPages(base.pathname);
session.subscribe(() => {
  // What one person saw is not for the next.
  if (!["leaving", "out"].includes(session.state())) return;
  queries.clear();
  forgetPreferences();
});

function Dashboard() {
  const state = useSession().state();
  if (state === "starting") return null;
  if (state === "leaving" || state === "unheard") return <LeavingPage />;
  return state === "in" ? <RouterProvider router={router} /> : <LoginPage />;
}

void session.resume();
const root = document.querySelector("#root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <SessionContext value={session}><QueryClientProvider client={queries}><Dashboard /></QueryClientProvider></SessionContext>
    </StrictMode>,
  );
}
