// The texts about payment networks, on the page of settings. Each connector has a name and a
// heading, and each of its settings a label and a hint.

import type { ConnectorName, connectors } from '../../networks/connectors.ts';
import { sayFrom, type Texts } from './say.ts';

type LabelOf<Name extends ConnectorName> = `${Name}_${(typeof connectors)[Name]['settings'][number]['name']}`;
type Label = { [Name in ConnectorName]: LabelOf<Name> }[ConnectorName];

export const connectorMessages = {
  http: { en: 'Agents or processor', fr: 'Agents ou prestataire', ar: 'وكلاء أو معالج دفع' },
  connect_http: {
    en: 'Connect cash agents or another processor',
    fr: 'Connecter des agents d’espèces ou un autre prestataire',
    ar: 'ربط وكلاء نقد أو معالج دفع آخر',
  },
  http_address: {
    en: 'Address of its server',
    fr: 'Adresse de son serveur',
    ar: 'عنوان خادمه',
  },
  http_address_hint: {
    en: 'An https address. Its operator implements the contract with integrators.',
    fr: 'Une adresse https. Son exploitant met en œuvre le contrat des intégrateurs.',
    ar: 'عنوان https. يطبّق مشغّله عقد المُدمِجين.',
  },
  http_secret: { en: 'Shared secret', fr: 'Secret partagé', ar: 'السر المشترك' },
  http_secret_hint: {
    en: 'At least 16 characters. It signs in both directions and is never shown again.',
    fr: 'Au moins 16 caractères. Il signe dans les deux sens et n’est plus jamais affiché.',
    ar: '16 حرفًا على الأقل. يوقّع في الاتجاهين ولا يُعرض مرة أخرى.',
  },
  http_agents: { en: 'Agents', fr: 'Agents', ar: 'الوكلاء' },
  http_agents_hint: {
    en: 'For cash: where customers are told to pay. May be left empty.',
    fr: 'Pour les espèces : où les clients sont invités à payer. Peut rester vide.',
    ar: 'للنقد: أين يُطلب من العملاء الدفع. يمكن تركه فارغًا.',
  },
  cmi: { en: 'CMI', fr: 'CMI', ar: 'مركز النقديات CMI' },
  connect_cmi: {
    en: 'Connect CMI for cards',
    fr: 'Connecter le CMI pour les cartes',
    ar: 'ربط مركز النقديات CMI للبطاقات',
  },
  cmi_gateway: { en: 'Address of the gateway', fr: 'Adresse de la passerelle', ar: 'عنوان البوابة' },
  cmi_gateway_hint: {
    en: 'As CMI has told you: https://payment.cmi.co.ma',
    fr: 'Celle que le CMI vous a indiquée : https://payment.cmi.co.ma',
    ar: 'كما أعطاك إياه CMI: ‎https://payment.cmi.co.ma',
  },
  cmi_client_id: { en: 'Client ID', fr: 'Identifiant client', ar: 'معرّف العميل' },
  cmi_client_id_hint: {
    en: 'The number of your shop at CMI.',
    fr: 'Le numéro de votre boutique au CMI.',
    ar: 'رقم متجرك لدى CMI.',
  },
  cmi_store_key: { en: 'Store key', fr: 'Clé du magasin', ar: 'مفتاح المتجر' },
  cmi_store_key_hint: {
    en: 'You choose it in CMI’s interface for merchants. It signs in both directions and is never shown again.',
    fr: 'Vous la choisissez dans l’interface marchand du CMI. Elle signe dans les deux sens et n’est plus jamais affichée.',
    ar: 'تختاره في واجهة التجار لدى CMI. يوقّع في الاتجاهين ولا يُعرض مرة أخرى.',
  },
  cmi_api_user: { en: 'API user', fr: 'Utilisateur de l’API', ar: 'مستخدم واجهة البرمجة' },
  cmi_api_user_hint: {
    en: 'Not needed to take payments. Without one there are no refunds, and CMI can’t be asked about lost reports.',
    fr: 'Facultatif pour encaisser. Sans lui, pas de remboursement, et le CMI ne peut pas être interrogé sur un rapport perdu.',
    ar: 'غير لازم لقبول الدفع. من دونه لا استرداد، ولا يمكن سؤال CMI عن تقرير مفقود.',
  },
  cmi_api_password: {
    en: 'Password of the API user',
    fr: 'Mot de passe de l’utilisateur de l’API',
    ar: 'كلمة مرور مستخدم واجهة البرمجة',
  },
  cmi_api_password_hint: {
    en: 'It is never shown again.',
    fr: 'Il n’est plus jamais affiché.',
    ar: 'لا تُعرض مرة أخرى.',
  },
} as const satisfies Record<ConnectorName | `connect_${ConnectorName}` | Label | `${Label}_hint`, object>;

export const networkMessages = {
  ...connectorMessages,
  networks: { en: 'Payment networks', fr: 'Réseaux de paiement', ar: 'شبكات الدفع' },
  none: {
    en: 'No network is connected, so no payment can be taken in this mode.',
    fr: 'Aucun réseau n’est connecté : aucun paiement n’est possible dans ce mode.',
    ar: 'لا توجد شبكة متصلة، فلا يمكن قبول أي دفعة في هذا الوضع.',
  },
  methods: { en: 'Payments', fr: 'Paiements', ar: 'المدفوعات' },
  both: { en: 'Cash and cards', fr: 'Espèces et cartes', ar: 'النقد والبطاقات' },
  card: { en: 'Cards', fr: 'Cartes', ar: 'البطاقات' },
  cash: { en: 'Cash', fr: 'Espèces', ar: 'النقد' },
  simulator: { en: 'Simulator', fr: 'Simulateur', ar: 'المحاكي' },
  sealed: { en: 'stored, not shown', fr: 'enregistré, non affiché', ar: 'محفوظ ولا يُعرض' },
  missing: { en: '{label}: fill this in.', fr: '{label} : à remplir.', ar: '{label}: املأ هذا الحقل.' },
  too_short: {
    en: '{label}: give at least {count} characters.',
    fr: '{label} : au moins {count} caractères.',
    ar: '{label}: ‏{count} حرفًا على الأقل.',
  },
  hidden: {
    en: '{label}: leave out invisible characters.',
    fr: '{label} : sans caractère invisible.',
    ar: '{label}: احذف الأحرف غير المرئية.',
  },
  address_invalid: {
    en: '{label}: give a public https address, without a user name.',
    fr: '{label} : indiquez une adresse https publique, sans nom d’utilisateur.',
    ar: '{label}: أدخل عنوان https عامًا دون اسم مستخدم.',
  },
  unknown_network: {
    en: 'There is no such network.',
    fr: 'Ce réseau n’existe pas.',
    ar: 'لا توجد شبكة كهذه.',
  },
  report_to: { en: 'Reports are posted to', fr: 'Les rapports sont envoyés à', ar: 'تُرسل التقارير إلى' },
  connect: { en: 'Connect', fr: 'Connecter', ar: 'ربط' },
  disconnect: { en: 'Disconnect', fr: 'Déconnecter', ar: 'فصل' },
} as const satisfies Texts;

export type NetworkMessage = keyof typeof networkMessages;
export const sayNetworks = sayFrom(networkMessages);
