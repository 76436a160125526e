// The texts about payment networks, on the page of settings. Each connector has a name and a
// heading, and each of its settings a label and a hint.

import type { ConnectorName, connectors } from '../../networks/connectors.ts';
import { sayFrom, texts } from './say.ts';

type LabelOf<Name extends ConnectorName> = `${Name}_${(typeof connectors)[Name]['settings'][number]['name']}`;
type Label = { [Name in ConnectorName]: LabelOf<Name> }[ConnectorName];

const connectorTexts = {
  http: 'Agents or processor | Agents ou prestataire | وكلاء أو معالج دفع',
  connect_http: `Connect cash agents or another processor
    Connecter des agents d’espèces ou un autre prestataire
    ربط وكلاء نقد أو معالج دفع آخر`,
  http_address: 'Address of its server | Adresse de son serveur | عنوان خادمه',
  http_address_hint: `An https address. Its operator implements the contract with integrators.
    Une adresse https. Son exploitant met en œuvre le contrat des intégrateurs.
    عنوان https. يطبّق مشغّله عقد المُدمِجين.`,
  http_secret: 'Shared secret | Secret partagé | السر المشترك',
  http_secret_hint: `At least 16 characters. It signs in both directions and is never shown again.
    Au moins 16 caractères. Il signe dans les deux sens et n’est plus jamais affiché.
    16 حرفًا على الأقل. يوقّع في الاتجاهين ولا يُعرض مرة أخرى.`,
  http_agents: 'Agents | Agents | الوكلاء',
  http_agents_hint: `For cash: where customers are told to pay. May be left empty.
    Pour les espèces : où les clients sont invités à payer. Peut rester vide.
    للنقد: أين يُطلب من العملاء الدفع. يمكن تركه فارغًا.`,
  cmi: 'CMI | CMI | مركز النقديات CMI',
  connect_cmi: 'Connect CMI for cards | Connecter le CMI pour les cartes | ربط مركز النقديات CMI للبطاقات',
  cmi_gateway: 'Address of the gateway | Adresse de la passerelle | عنوان البوابة',
  cmi_gateway_hint: `As CMI has told you: https://payment.cmi.co.ma
    Celle que le CMI vous a indiquée : https://payment.cmi.co.ma
    كما أعطاك إياه CMI: ‎https://payment.cmi.co.ma`,
  cmi_client_id: 'Client ID | Identifiant client | معرّف العميل',
  cmi_client_id_hint: `The number of your shop at CMI.
    Le numéro de votre boutique au CMI.
    رقم متجرك لدى CMI.`,
  cmi_store_key: 'Store key | Clé du magasin | مفتاح المتجر',
  cmi_store_key_hint: `You choose it in CMI’s interface for merchants. It signs in both directions and is never shown again.
    Vous la choisissez dans l’interface marchand du CMI. Elle signe dans les deux sens et n’est plus jamais affichée.
    تختاره في واجهة التجار لدى CMI. يوقّع في الاتجاهين ولا يُعرض مرة أخرى.`,
  cmi_api_user: 'API user | Utilisateur de l’API | مستخدم واجهة البرمجة',
  cmi_api_user_hint: `Not needed to take payments. Without one there are no refunds, and CMI can’t be asked about lost reports.
    Facultatif pour encaisser. Sans lui, pas de remboursement, et le CMI ne peut pas être interrogé sur un rapport perdu.
    غير لازم لقبول الدفع. من دونه لا استرداد، ولا يمكن سؤال CMI عن تقرير مفقود.`,
  cmi_api_password: `Password of the API user
    Mot de passe de l’utilisateur de l’API
    كلمة مرور مستخدم واجهة البرمجة`,
  cmi_api_password_hint: 'It is never shown again. | Il n’est plus jamais affiché. | لا تُعرض مرة أخرى.',
} satisfies Record<ConnectorName | `connect_${ConnectorName}` | Label | `${Label}_hint`, string>;

export const networkMessages = texts({
  ...connectorTexts,
  networks: 'Payment networks | Réseaux de paiement | شبكات الدفع',
  none: `No network is connected, so no payment can be taken in this mode.
    Aucun réseau n’est connecté : aucun paiement n’est possible dans ce mode.
    لا توجد شبكة متصلة، فلا يمكن قبول أي دفعة في هذا الوضع.`,
  methods: 'Payments | Paiements | المدفوعات',
  both: 'Cash and cards | Espèces et cartes | النقد والبطاقات',
  card: 'Cards | Cartes | البطاقات',
  cash: 'Cash | Espèces | النقد',
  simulator: 'Simulator | Simulateur | المحاكي',
  sealed: 'stored, not shown | enregistré, non affiché | محفوظ ولا يُعرض',
  missing: '{label}: fill this in. | {label} : à remplir. | {label}: املأ هذا الحقل.',
  too_short: `{label}: give at least {count} characters.
    {label} : au moins {count} caractères.
    {label}: ‏{count} حرفًا على الأقل.`,
  hidden: `{label}: leave out invisible characters.
    {label} : sans caractère invisible.
    {label}: احذف الأحرف غير المرئية.`,
  address_invalid: `{label}: give a public https address, without a user name.
    {label} : indiquez une adresse https publique, sans nom d’utilisateur.
    {label}: أدخل عنوان https عامًا دون اسم مستخدم.`,
  unknown_network: 'There is no such network. | Ce réseau n’existe pas. | لا توجد شبكة كهذه.',
  report_to: 'Reports are posted to | Les rapports sont envoyés à | تُرسل التقارير إلى',
  connect: 'Connect | Connecter | ربط',
  disconnect: 'Disconnect | Déconnecter | فصل',
});

export type NetworkMessage = keyof typeof networkMessages;
export const sayNetworks = sayFrom(networkMessages);
