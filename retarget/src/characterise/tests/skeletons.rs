//! Skeletons as people name them, typed by hand: one bone a line, depth by indentation, then X, Y, Z of the joint in
//! the model in centimetres. A person of 1.7 m in T-pose, +Y up, facing +Z, left at +X. What has a side is written for
//! the left; [`super::skeleton`] makes the right of it.

pub(super) const MIXAMO: &str = "
mixamorig:Hips 0 95 0
 mixamorig:Spine 0 105 -1
  mixamorig:Spine1 0 117 -2
   mixamorig:Spine2 0 130 -3
    mixamorig:Neck 0 145 -2
     mixamorig:Head 0 154 0
      mixamorig:HeadTop_End 0 172 2
    mixamorig:LeftShoulder 5 141 -2
     mixamorig:LeftArm 17 141 -3
      mixamorig:LeftForeArm 44 141 -3
       mixamorig:LeftHand 71 141 -2
        mixamorig:LeftHandThumb1 74 139 2
         mixamorig:LeftHandThumb2 77 138 5
          mixamorig:LeftHandThumb3 80 136 7
           mixamorig:LeftHandThumb4 82 135 9
        mixamorig:LeftHandIndex1 81 140 2
         mixamorig:LeftHandIndex2 85 139 2
          mixamorig:LeftHandIndex3 88 138 2
           mixamorig:LeftHandIndex4 91 137 2
        mixamorig:LeftHandMiddle1 82 140 -1
         mixamorig:LeftHandMiddle2 86 140 -1
          mixamorig:LeftHandMiddle3 90 139 -1
           mixamorig:LeftHandMiddle4 93 138 -1
        mixamorig:LeftHandRing1 81 140 -4
         mixamorig:LeftHandRing2 85 140 -4
          mixamorig:LeftHandRing3 88 139 -4
           mixamorig:LeftHandRing4 91 138 -4
        mixamorig:LeftHandPinky1 80 139 -6
         mixamorig:LeftHandPinky2 83 139 -6
          mixamorig:LeftHandPinky3 86 138 -6
           mixamorig:LeftHandPinky4 88 138 -6
 mixamorig:LeftUpLeg 9 88 0
  mixamorig:LeftLeg 9 48 -2
   mixamorig:LeftFoot 10 8 -5
    mixamorig:LeftToeBase 10 2 9
     mixamorig:LeftToe_End 10 1 17
";

pub(super) const VRM: &str = "
hips 0 95 0
 spine 0 105 -1
  chest 0 117 -2
   upperChest 0 130 -3
    neck 0 145 -2
     head 0 154 0
      leftEye 3 161 8
      jaw 0 156 2
    leftShoulder 5 141 -2
     leftUpperArm 17 141 -3
      leftLowerArm 44 141 -3
       leftHand 71 141 -2
        leftThumbMetacarpal 74 139 2
         leftThumbProximal 77 138 5
          leftThumbDistal 80 136 7
        leftIndexProximal 81 140 2
         leftIndexIntermediate 85 139 2
          leftIndexDistal 88 138 2
        leftLittleProximal 80 139 -6
         leftLittleIntermediate 83 139 -6
          leftLittleDistal 86 138 -6
 leftUpperLeg 9 88 0
  leftLowerLeg 9 48 -2
   leftFoot 10 8 -5
    leftToes 10 2 9
";

pub(super) const UNITY: &str = "
Hips 0 95 0
 Spine 0 105 -1
  Chest 0 117 -2
   Neck 0 145 -2
    Head 0 154 0
   Left Shoulder 5 141 -2
    Left Upper Arm 17 141 -3
     Left Lower Arm 44 141 -3
      Left Hand 71 141 -2
       Left Thumb Proximal 74 139 2
        Left Thumb Intermediate 77 138 5
         Left Thumb Distal 80 136 7
 Left Upper Leg 9 88 0
  Left Lower Leg 9 48 -2
   Left Foot 10 8 -5
    Left Toes 10 2 9
";

pub(super) const VROID: &str = "
Root 0 0 0
 J_Bip_C_Hips 0 95 0
  J_Bip_C_Spine 0 105 -1
   J_Bip_C_Chest 0 117 -2
    J_Bip_C_UpperChest 0 130 -3
     J_Bip_C_Neck 0 145 -2
      J_Bip_C_Head 0 154 0
       J_Adj_L_FaceEye 3 161 8
       J_Sec_Hair1_01 0 170 -5
        J_Sec_Hair2_01 0 160 -9
     J_Sec_L_Bust1 7 128 8
     J_Bip_L_Shoulder 5 141 -2
      J_Bip_L_UpperArm 17 141 -3
       J_Bip_L_LowerArm 44 141 -3
        J_Bip_L_Hand 71 141 -2
         J_Bip_L_Thumb1 74 139 2
          J_Bip_L_Thumb2 77 138 5
           J_Bip_L_Thumb3 80 136 7
         J_Bip_L_Little1 80 139 -6
          J_Bip_L_Little2 83 139 -6
           J_Bip_L_Little3 86 138 -6
  J_Bip_L_UpperLeg 9 88 0
   J_Bip_L_LowerLeg 9 48 -2
    J_Bip_L_Foot 10 8 -5
     J_Bip_L_ToeBase 10 2 9
";

pub(super) const UNREAL: &str = "
root 0 0 0
 pelvis 0 95 0
  spine_01 0 99 -1
   spine_02 0 106 -2
    spine_03 0 115 -2
     spine_04 0 124 -3
      spine_05 0 133 -3
       neck_01 0 145 -2
        neck_02 0 150 -1
         head 0 155 0
       clavicle_l 3 141 -2
        upperarm_l 17 141 -3
         upperarm_twist_01_l 26 141 -3
         upperarm_twist_02_l 35 141 -3
         lowerarm_l 44 141 -3
          lowerarm_twist_02_l 53 141 -3
          lowerarm_twist_01_l 62 141 -3
          hand_l 71 141 -2
           thumb_01_l 74 139 2
            thumb_02_l 77 138 5
             thumb_03_l 80 136 7
           index_metacarpal_l 74 141 1
            index_01_l 81 140 2
             index_02_l 85 139 2
              index_03_l 88 138 2
           pinky_metacarpal_l 74 141 -4
            pinky_01_l 80 139 -6
             pinky_02_l 83 139 -6
              pinky_03_l 86 138 -6
  thigh_l 9 88 0
   thigh_twist_01_l 9 68 -1
   calf_l 9 48 -2
    calf_twist_01_l 9 28 -3
    foot_l 10 8 -5
     ball_l 10 2 9
 ik_foot_root 0 0 0
  ik_foot_l 10 8 -5
 ik_hand_root 0 0 0
  ik_hand_gun -71 141 -2
   ik_hand_l 71 141 -2
";

pub(super) const XSENS: &str = "
Pelvis 0 95 0
 L5 0 103 -1
  L3 0 112 -2
   T12 0 121 -3
    T8 0 130 -3
     Neck 0 145 -2
      Head 0 154 0
     LeftShoulder 3 141 -2
      LeftUpperArm 17 141 -3
       LeftForeArm 44 141 -3
        LeftHand 71 141 -2
         LeftCarpus 71 141 -2
          LeftFirstMC 74 139 2
           LeftFirstPP 77 138 5
            LeftFirstDP 80 136 7
          LeftSecondMC 74 141 1
           LeftSecondPP 81 140 2
            LeftSecondMP 85 139 2
             LeftSecondDP 88 138 2
 LeftUpperLeg 9 88 0
  LeftLowerLeg 9 48 -2
   LeftFoot 10 8 -5
    LeftToe 10 2 9
";

pub(super) const MOCOPI: &str = "
root 0 95 0
 torso_1 0 100 -1
  torso_2 0 106 0
   torso_3 0 112 0
    torso_4 0 118 0
     torso_5 0 126 -2
      torso_6 0 135 -3
       torso_7 0 146 -1
        neck_1 0 150 0
         neck_2 0 155 0
          head 0 160 1
        l_shoulder 1 138 6
         l_up_arm 14 141 3
          l_low_arm 43 141 3
           l_hand 67 141 3
 l_up_leg 9 91 2
  l_low_leg 8 52 1
   l_foot 6 12 -5
    l_toes 7 2 8
";

pub(super) const ROKOKO: &str = "
hip 0 95 0
 spine 0 107 -1
  chest 0 126 -3
   neck 0 145 -2
    head 0 154 0
   leftShoulder 5 141 -2
    leftUpperArm 17 141 -3
     leftLowerArm 44 141 -3
      leftHand 71 141 -2
       leftThumbProximal 74 139 2
        leftThumbMedial 77 138 5
         leftThumbDistal 80 136 7
          leftThumbTip 82 135 9
       leftIndexProximal 81 140 2
        leftIndexMedial 85 139 2
         leftIndexDistal 88 138 2
          leftIndexTip 91 137 2
 leftUpLeg 9 88 0
  leftLeg 9 48 -2
   leftFoot 10 8 -5
    leftToe 10 2 9
     leftToeEnd 10 1 17
";

pub(super) const NEURON: &str = "
Hips 0 95 0
 LeftUpLeg 9 88 0
  LeftLeg 9 48 -2
   LeftFoot 10 8 -5
 Spine 0 105 -1
  Spine1 0 113 -2
   Spine2 0 121 -2
    Spine3 0 130 -3
     Neck 0 145 -2
      Head 0 154 0
     LeftShoulder 5 141 -2
      LeftArm 17 141 -3
       LeftForeArm 44 141 -3
        LeftHand 71 141 -2
         LeftHandThumb1 74 139 2
          LeftHandThumb2 77 138 5
           LeftHandThumb3 80 136 7
         LeftInHandIndex 74 141 1
          LeftHandIndex1 81 140 2
           LeftHandIndex2 85 139 2
            LeftHandIndex3 88 138 2
";

pub(super) const MOTIVE: &str = "
Kim_Hip 0 95 0
 Kim_Ab 0 105 -1
  Kim_Chest 0 124 -3
   Kim_Neck 0 145 -2
    Kim_Head 0 154 0
   Kim_LShoulder 5 141 -2
    Kim_LUArm 17 141 -3
     Kim_LFArm 44 141 -3
      Kim_LHand 71 141 -2
 Kim_LThigh 9 88 0
  Kim_LShin 9 48 -2
   Kim_LFoot 10 8 -5
    Kim_LToe 10 2 9
";

pub(super) const CMU: &str = "
Hips 0 95 0
 LHipJoint 0 95 0
  LeftUpLeg 9 88 3
   LeftLeg 12 48 3
    LeftFoot 15 8 0
     LeftToeBase 15 4 11
 LowerBack 0 95 0
  Spine 0 107 -2
   Spine1 0 119 -1
    Neck 0 119 -1
     Neck1 0 131 0
      Head 0 143 -2
    LeftShoulder 0 119 -1
     LeftArm 17 133 -4
      LeftForeArm 44 133 -4
       LeftHand 60 133 -4
        LeftFingerBase 60 133 -4
         LeftHandIndex1 64 133 -4
        LThumb 60 133 -4
";

pub(super) const BIOVISION: &str = "
Hips 0 95 0
 Chest 0 105 0
  Chest2 0 121 -3
   Neck 0 138 -2
    Head 0 150 2
   LeftCollar 0 138 -2
    LeftShoulder 16 135 0
     LeftElbow 18 109 1
      LeftWrist 20 86 2
 LeftHip 9 92 0
  LeftKnee 9 48 0
   LeftAnkle 9 8 -4
    LeftToe 9 2 9
";

pub(super) const SMPL: &str = "
pelvis 0 95 0
 left_hip 6 87 0
  left_knee 8 49 0
   left_ankle 8 8 -4
    left_foot 10 2 8
 spine1 0 107 -1
  spine2 0 121 0
   spine3 0 126 2
    neck 0 147 -2
     head 0 156 2
    left_collar 8 142 -1
     left_shoulder 17 144 -3
      left_elbow 43 142 -5
       left_wrist 68 143 -5
        left_hand 76 142 -6
";

pub(super) const RIGIFY: &str = "
DEF-spine 0 95 0
 DEF-spine.001 0 105 -1
  DEF-spine.002 0 117 -2
   DEF-spine.003 0 130 -3
    DEF-spine.004 0 145 -2
     DEF-spine.005 0 150 -1
      DEF-spine.006 0 155 0
    DEF-shoulder.L 3 141 -2
     DEF-upper_arm.L 17 141 -3
      DEF-upper_arm.L.001 30.5 141 -3
       DEF-forearm.L 44 141 -3
        DEF-forearm.L.001 57.5 141 -2.5
         DEF-hand.L 71 141 -2
          DEF-thumb.01.L 74 139 2
           DEF-thumb.02.L 77 138 5
            DEF-thumb.03.L 80 136 7
          DEF-palm.01.L 74 141 1
           DEF-f_index.01.L 81 140 2
            DEF-f_index.02.L 85 139 2
             DEF-f_index.03.L 88 138 2
 DEF-pelvis.L 0 95 0
 DEF-thigh.L 9 88 0
  DEF-thigh.L.001 9 68 -1
   DEF-shin.L 9 48 -2
    DEF-shin.L.001 9.5 28 -3.5
     DEF-foot.L 10 8 -5
      DEF-toe.L 10 2 9
";

pub(super) const DAZ8: &str = "
hip 0 97 0
 pelvis 0 96 0
  lThighBend 9 88 0
   lThighTwist 9 68 -1
    lShin 9 48 -2
     lFoot 10 8 -5
      lMetatarsals 10 6 0
       lToe 10 2 9
        lBigToe 9 2 12
 abdomenLower 0 103 -1
  abdomenUpper 0 112 -2
   chestLower 0 121 -3
    chestUpper 0 132 -3
     lCollar 5 141 -2
      lShldrBend 17 141 -3
       lShldrTwist 30.5 141 -3
        lForearmBend 44 141 -3
         lForearmTwist 57.5 141 -2.5
          lHand 71 141 -2
           lThumb1 74 139 2
            lThumb2 77 138 5
             lThumb3 80 136 7
           lCarpal1 74 141 1
            lIndex1 81 140 2
             lIndex2 85 139 2
              lIndex3 88 138 2
           lCarpal2 74 141 0
            lMid1 82 140 -1
             lMid2 86 140 -1
              lMid3 90 139 -1
     neckLower 0 145 -2
      neckUpper 0 150 -1
       head 0 155 0
        lowerJaw 0 157 2
        lEye 3 161 8
";

pub(super) const DAZ9: &str = "
hip 0 97 0
 pelvis 0 96 0
  l_thigh 9 88 0
   l_thightwist1 9 75 -1
   l_thightwist2 9 61 -1
   l_shin 9 48 -2
    l_foot 10 8 -5
     l_metatarsals 10 6 0
      l_toes 10 2 9
 spine1 0 103 -1
  spine2 0 112 -2
   spine3 0 121 -3
    spine4 0 132 -3
     l_shoulder 5 141 -2
      l_upperarm 17 141 -3
       l_upperarmtwist1 26 141 -3
       l_upperarmtwist2 35 141 -3
       l_forearm 44 141 -3
        l_hand 71 141 -2
         l_indexmetacarpal 74 141 1
          l_index1 81 140 2
           l_index2 85 139 2
            l_index3 88 138 2
     neck1 0 145 -2
      neck2 0 150 -1
       head 0 155 0
";

pub(super) const CC: &str = "
CC_Base_BoneRoot 0 0 0
 CC_Base_Hip 0 97 0
  CC_Base_Pelvis 0 96 0
   CC_Base_L_Thigh 9 88 0
    CC_Base_L_ThighTwist01 9 78 -1
    CC_Base_L_ThighTwist02 9 68 -1
    CC_Base_L_KneeShareBone 9 48 -2
    CC_Base_L_Calf 9 48 -2
     CC_Base_L_CalfTwist01 9 38 -3
     CC_Base_L_Foot 10 8 -5
      CC_Base_L_ToeBase 10 2 9
       CC_Base_L_BigToe1 9 2 12
       CC_Base_L_IndexToe1 10 2 12
  CC_Base_Waist 0 104 -1
   CC_Base_Spine01 0 115 -2
    CC_Base_Spine02 0 130 -3
     CC_Base_NeckTwist01 0 145 -2
      CC_Base_NeckTwist02 0 150 -1
       CC_Base_Head 0 155 0
        CC_Base_L_Eye 3 161 8
        CC_Base_JawRoot 0 157 2
     CC_Base_L_Clavicle 3 141 -2
      CC_Base_L_Upperarm 17 141 -3
       CC_Base_L_UpperarmTwist01 23.75 141 -3
       CC_Base_L_UpperarmTwist02 30.5 141 -3
       CC_Base_L_Forearm 44 141 -3
        CC_Base_L_ForearmTwist01 50.75 141 -3
        CC_Base_L_Hand 71 141 -2
         CC_Base_L_Thumb1 74 139 2
          CC_Base_L_Thumb2 77 138 5
           CC_Base_L_Thumb3 80 136 7
         CC_Base_L_Mid1 82 140 -1
          CC_Base_L_Mid2 86 140 -1
           CC_Base_L_Mid3 90 139 -1
     CC_Base_L_RibsTwist 7 128 8
      CC_Base_L_Breast 7 128 10
";

pub(super) const ARKIT: &str = "
root 0 0 0
 hips_joint 0 95 0
  left_upLeg_joint 9 88 0
   left_leg_joint 9 48 -2
    left_foot_joint 10 8 -5
     left_toes_joint 10 2 9
      left_toesEnd_joint 10 1 17
  spine_1_joint 0 99 -1
   spine_2_joint 0 104 -1
    spine_3_joint 0 109 -2
     spine_4_joint 0 114 -2
      spine_5_joint 0 120 -3
       spine_6_joint 0 126 -3
        spine_7_joint 0 133 -3
         left_shoulder_1_joint 5 141 -2
          left_arm_joint 17 141 -3
           left_forearm_joint 44 141 -3
            left_hand_joint 71 141 -2
             left_handThumbStart_joint 74 139 2
              left_handThumb_1_joint 77 138 5
               left_handThumb_2_joint 80 136 7
                left_handThumbEnd_joint 82 135 9
             left_handIndexStart_joint 74 141 1
              left_handIndex_1_joint 81 140 2
               left_handIndex_2_joint 85 139 2
                left_handIndex_3_joint 88 138 2
                 left_handIndexEnd_joint 91 137 2
         neck_1_joint 0 145 -2
          neck_2_joint 0 147 -1
           neck_3_joint 0 150 -1
            neck_4_joint 0 152 -1
             head_joint 0 155 0
              jaw_joint 0 156 2
              left_eye_joint 3 161 8
               left_eyeball_joint 3 161 8
               left_eyeUpperLid_joint 3 161 8
              nose_joint 0 158 10
";

pub(super) const MAKEHUMAN: &str = "
Root 0 93 0
 Spine1 0 98 -1
  Spine2 0 110 -2
   Spine3 0 122 -3
    Neck 0 145 -2
     Head 0 154 0
    __Clavicle_L 0 141 -2
     Clavicle_L 3 141 -2
      UpArm_L 17 141 -3
       LoArm_L 44 141 -3
        Hand_L 71 141 -2
         __Index1_L 75 140 0
          Index1_L 81 140 2
           Index2_L 85 139 2
            Index3_L 88 138 2
 Hips 0 98 -1
  __UpLeg_L 0 90 0
   UpLeg_L 9 88 0
    LoLeg_L 9 48 -2
     Foot_L 10 8 -5
      Toe_L 10 2 9
";

pub(super) const MMD: &str = "
全ての親 0 0 0
 センター 0 80 0
  グルーブ 0 81 0
   腰 0 96 0
    下半身 0 100 -1
     左足 9 88 0
      左ひざ 9 48 -2
       左足首 10 8 -5
        左つま先 10 1 9
     左足D 9 88 0
      左ひざD 9 48 -2
       左足首D 10 8 -5
        左足先EX 10 2 7
    上半身 0 101 -1
     上半身2 0 117 -2
      首 0 145 -2
       頭 0 154 0
        左目 3 161 8
       両目 0 175 8
      左肩P 5 141 -2
       左肩 5 141 -2
        左肩C 17 141 -3
         左腕 17 141 -3
          左腕捩 33 141 -3
           左ひじ 44 141 -3
            左手捩 60 141 -3
             左手首 71 141 -2
              左親指０ 74 139 2
               左親指１ 77 138 5
                左親指２ 80 136 7
              左人指１ 81 140 2
               左人指２ 85 139 2
                左人指３ 88 138 2
              左ダミー 78 135 0
          左腕捩1 24 141 -3
 左足IK親 10 0 -5
  左足ＩＫ 10 8 -5
   左つま先ＩＫ 10 1 9
";

pub(super) const CHINESE: &str = "
骨盆 0 95 0
 脊柱1 0 105 -1
  脊柱2 0 117 -2
   颈 0 145 -2
    头 0 154 0
   左锁骨 5 141 -2
    左上臂 17 141 -3
     左前臂 44 141 -3
      左手 71 141 -2
       左拇指1 74 139 2
        左拇指2 77 138 5
       左食指1 81 140 2
        左食指2 85 139 2
         左食指3 88 138 2
 左大腿 9 88 0
  左小腿 9 48 -2
   左脚 10 8 -5
    左脚趾 10 2 9
";

pub(super) const BANDAI: &str = "
joint_Root 0 0 0
 Hips 0 95 0
  Spine 0 110 -1
   Chest 0 119 -2
    Neck 0 145 -2
     Head 0 154 0
    Shoulder_L 3 141 -2
     UpperArm_L 17 141 -3
      LowerArm_L 44 141 -3
       Hand_L 71 141 -2
  UpperLeg_L 9 88 0
   LowerLeg_L 9 48 -2
    Foot_L 10 8 -5
     Toes_L 10 2 9
";

pub(super) const BIPED: &str = "
Bip01 0 95 0
 Bip01 Pelvis 0 95 0
  Bip01 Spine 0 105 -1
   Bip01 L Thigh 9 88 0
    Bip01 L Calf 9 48 -2
     Bip01 L Foot 10 8 -5
      Bip01 L Toe0 10 2 9
       Bip01 L Toe0Nub 10 1 17
   Bip01 Spine1 0 120 -2
    Bip01 Neck 0 145 -2
     Bip01 Head 0 154 0
      Bip01 HeadNub 0 172 2
     Bip01 L Clavicle 3 141 -2
      Bip01 L UpperArm 17 141 -3
       Bip01 L Forearm 44 141 -3
        Bip01 L Hand 71 141 -2
";
