export { registrableDomain, type RegistrableDomain } from "./names/registrable-domain.ts";
